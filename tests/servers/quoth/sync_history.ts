/** Text or bytes of files by path, as an author edits them. */
export type Tree = ReadonlyMap<string, string | Uint8Array<ArrayBuffer>>;

/** One push of a history: its changes, and the branch's files afterwards. */
export interface Push {
  readonly change: string;
  readonly tree: Tree;
}

/** Numbers from 0 to 1 that a seed determines (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const WORDS =
  ("deploy release rollback branch token secret queue worker lease schedule vector index " +
    "search heading table column policy role grant trigger function webhook retry backoff limit " +
    "budget region bucket object folder mirror replica snapshot restore archive metric alert trace")
    .split(" ");

type Edit = (tree: Map<string, string | Uint8Array<ArrayBuffer>>) => void;

/**
 * Creates a history of pushes with every kind of change to a repository, the same for each seed.
 */
export function createHistory(seed: number, length: number): readonly Push[] {
  const random = createRandom(seed);
  const author = createAuthor(random);
  let tree: Tree = new Map();
  const pushes: Push[] = [];
  for (let number = 0; number < length; number++) {
    const next = new Map(tree);
    if (number < 6) {
      for (let files = 0; files < 5; files++) author.changes.add?.(next);
      pushes.push({ change: "add", tree: next });
    } else if (random() < 0.05) {
      // A forced push: the branch is reset to an earlier state, plus another change.
      const back = pushes[Math.max(0, pushes.length - 2 - Math.floor(random() * 8))];
      const forced = new Map(back?.tree ?? tree);
      author.changes.edit?.(forced);
      pushes.push({ change: "force push", tree: forced });
    } else {
      const count = random() < 0.7 ? 1 : 1 + Math.floor(random() * 4);
      const names = Array.from({ length: count }, () => author.pick());
      for (const name of names) author.changes[name]?.(next);
      pushes.push({ change: names.join(" + "), tree: next });
    }
    tree = pushes.at(-1)?.tree ?? tree;
  }
  return pushes;
}

function createAuthor(random: () => number) {
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(items: readonly T[]): T | undefined => items[below(items.length)];
  const word = () => oneOf(WORDS) ?? "word";
  const words = (count: number) => Array.from({ length: count }, word).join(" ");
  let fileNumber = 0;

  const sentence = () => `${words(6 + below(10))}.`;
  const section = () => {
    const parts = [`## ${words(2)} ${below(1_000)}`, words(40 + below(60)) + "."];
    if (random() < 0.3) {
      parts.push("```ts\n" + `const ${word()} = "${words(4)}";\n## not a heading\n` + "```");
    }
    if (random() < 0.2) {
      parts.push(`| ${word()} | ${word()} |\n| --- | --- |\n| ${word()} | ${words(3)} |`);
    }
    if (random() < 0.2) {
      parts.push(`### ${words(2)}\n\n${sentence()}\n\n- ${sentence()}\n- ${sentence()}`);
    }
    return parts.join("\n\n");
  };
  const text = () => {
    const frontMatter = random() < 0.3
      ? `---\ntitle: ${words(3)}\nupdated: 2026-01-0${1 + below(9)}\n---\n\n`
      : "";
    const title = random() < 0.9 ? `# ${words(3)}\n\n` : "";
    // Six chunks per file, like the documentation of a real project.
    const sections = Array.from({ length: 1 + below(10) }, section);
    return `${frontMatter}${title}${sentence()}\n\n${sections.join("\n\n")}\n`;
  };
  const newPath = () => {
    const folder = oneOf(["", "docs/", "docs/guides/", "référence/", "日本/", "docs/a b/"]) ?? "";
    return `${folder}${word()}-${++fileNumber}.${random() < 0.15 ? "mdx" : "md"}`;
  };
  const textFiles = (tree: Tree) =>
    [...tree].flatMap(([path, content]) => typeof content === "string" ? [{ path, content }] : []);
  const withFile =
    (edit: (tree: Parameters<Edit>[0], path: string, content: string) => void): Edit => (tree) => {
      const file = oneOf(textFiles(tree));
      if (file !== undefined) edit(tree, file.path, file.content);
    };
  const editSection = (content: string) => {
    const parts = content.split(/^(?=## )/m);
    parts[below(parts.length)] = `${section()}\n\n`;
    return parts.join("");
  };

  const changes: Readonly<Record<string, Edit>> = {
    add: (tree) => void tree.set(newPath(), text()),
    edit: withFile((tree, path, content) => void tree.set(path, editSection(content))),
    append: withFile((tree, path, content) => void tree.set(path, `${content}\n${section()}\n`)),
    shift: withFile((tree, path, content) =>
      void tree.set(path, content.replace(/^## /m, `${sentence()}\n\n## `))
    ),
    "new date": withFile((tree, path, content) =>
      void tree.set(path, content.replace(/^updated: .*$/m, `updated: 2026-02-1${below(10)}`))
    ),
    delete: withFile((tree, path) => void tree.delete(path)),
    rename: withFile((tree, path, content) => {
      tree.delete(path);
      tree.set(newPath(), content);
    }),
    "rename and edit": withFile((tree, path, content) => {
      tree.delete(path);
      tree.set(newPath(), editSection(content));
    }),
    "rename by case": withFile((tree, path, content) => {
      tree.delete(path);
      tree.set(
        path.replace(
          /[^/]+(?=\.mdx?$)/,
          (name) => name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase(),
        ),
        content,
      );
    }),
    "move folder": (tree) => {
      const from = oneOf([...tree.keys()].filter((path) => path.includes("/")))?.split("/")[0];
      const to = `moved-${below(20)}`;
      for (const [path, content] of [...tree]) {
        if (!path.startsWith(`${from}/`)) continue;
        tree.delete(path);
        tree.set(path.replace(`${from}/`, `${to}/`), content);
      }
    },
    swap: (tree) => {
      const [first, second] = [oneOf(textFiles(tree)), oneOf(textFiles(tree))];
      if (first === undefined || second === undefined) return;
      tree.set(first.path, second.content);
      tree.set(second.path, first.content);
    },
    copy: withFile((tree, _, content) => void tree.set(newPath(), content)),
    "line ends": withFile((tree, path, content) =>
      void tree.set(
        path,
        content.includes("\r\n")
          ? content.replaceAll("\r\n", "\n")
          : content.replaceAll("\n", "\r\n"),
      )
    ),
    binary: (tree) => void tree.set(newPath(), new Uint8Array([0x89, 0x50, below(256), 0, 0xff])),
    huge: (tree) => void tree.set(newPath(), `# Big\n\n${"word ".repeat(210_000 + below(10))}`),
    empty: (tree) => void tree.set(newPath(), oneOf(["", "\n\n", "---\ntitle: x\n---\n"]) ?? ""),
    "not a document": (tree) => void tree.set(`src/${word()}.ts`, sentence()),
    heal: (tree) => {
      for (const [path, content] of tree) {
        if (typeof content !== "string" || content.length > 500_000) tree.set(path, text());
      }
    },
  };
  const weights: Readonly<Record<string, number>> = {
    edit: 30,
    append: 10,
    shift: 6,
    "new date": 4,
    add: 10,
    delete: 5,
    rename: 6,
    "rename and edit": 5,
    "rename by case": 2,
    "move folder": 4,
    swap: 1,
    copy: 2,
    "line ends": 2,
    binary: 1,
    huge: 1,
    empty: 1,
    "not a document": 2,
    heal: 1,
  };
  const bag = Object.entries(weights).flatMap(([name, weight]) => Array<string>(weight).fill(name));
  return { changes, pick: () => oneOf(bag) ?? "edit" };
}
