import assert from "node:assert/strict";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { findSection, sectionAt } from "./read_doc.ts";
import { listSections } from "./list_sections.ts";

const GUIDE = `---
title: Guide
---

How to begin.

## Linux

### Install

By the package manager.

### Remove

## Windows

### Install

By the installer.

## File > Open

Menus have arrows.
`;

const sectionsOf = (content: string, title = "Guide") => listSections({ content, title });

const linesOf = async (wanted: string, content = GUIDE) => {
  const { startLine, endLine } = findSection(await sectionsOf(content), wanted);
  return content.split("\n").slice(startLine - 1, endLine).join("\n").trim();
};

const refusalOf = async (wanted: string, content = GUIDE) => {
  const error = await linesOf(wanted, content).catch((error) => error);
  assert.ok(error instanceof SwarmError, `'${wanted}' was found`);
  assert.equal(error.code, "DOCUMENT_NOT_FOUND");
  return `${error.message}. ${error.hint}`;
};

Deno.test("findSection() resolves a heading by its parents, with or without the title", async () => {
  for (
    const path of ["Windows > Install", "Guide > Windows > Install", "## windows > ### install"]
  ) {
    assert.match(await linesOf(path), /^### Install\n\nBy the installer\.$/);
  }
  assert.match(await linesOf("Linux > Install"), /By the package manager\.$/);
  assert.match(await linesOf("Guide > Linux"), /^## Linux[^]*### Remove$/);
});

Deno.test("findSection() accepts a unique heading by itself, and headings with arrows", async () => {
  assert.equal(await linesOf("Remove"), "### Remove");
  assert.match(await linesOf("File > Open"), /Menus have arrows/);
  assert.match(await linesOf("Guide > File > Open"), /Menus have arrows/);
});

Deno.test("findSection() asks which of several headings is meant", async () => {
  assert.equal(
    await refusalOf("Install"),
    "Cannot read the section 'Install': the document has 2 such headings. " +
      "Name one by its path or anchor: Guide > Linux > Install (#install); " +
      "Guide > Windows > Install (#install-1).",
  );
  for (const anchor of ["#install", "#install-1", "install-1"]) {
    assert.match(await linesOf(anchor), anchor === "#install" ? /package/ : /installer/);
  }
});

Deno.test("findSection() finds no heading under parents that it does not have", async () => {
  for (const wanted of ["Nonsense > Install", "Guide > Install", "Windows > Remove"]) {
    assert.match(
      await refusalOf(wanted),
      /has no such heading\. .*Guide > Linux > (Install|Remove)/,
    );
  }
});

Deno.test("findSection() prefers a complete path to a longer one that ends with it", async () => {
  const nested = "# Guide\n\n## Old\n\n### Guide\n\nNo more.\n\n## New\n\nNow.\n";

  assert.match(await linesOf("Guide", nested), /Now\.$/);
  assert.match(await linesOf("Old > Guide", nested), /No more\.$/);
});

Deno.test("findSection() returns the whole document for a title that no heading repeats", async () => {
  assert.equal(await linesOf("Guide"), GUIDE.trim());
});

Deno.test("sectionAt() returns the innermost section that contains all lines", async () => {
  const sections = await sectionsOf(GUIDE);
  const pathAt = (startLine: number, endLine: number) =>
    sectionAt(sections, { startLine, endLine }).headingPath;

  assert.deepEqual(pathAt(1, 5), ["Guide"]);
  assert.deepEqual(pathAt(9, 11), ["Guide", "Linux", "Install"]);
  assert.deepEqual(pathAt(9, 13), ["Guide", "Linux"]);
  assert.deepEqual(pathAt(13, 17), ["Guide"]);
  assert.deepEqual(pathAt(19, 19), ["Guide", "Windows", "Install"]);
});
