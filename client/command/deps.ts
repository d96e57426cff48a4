/** Pins the packages that the command bundles. */
export * as prompts from "npm:@clack/prompts@1.9.0";
export { parse as parseToml, patch as patchToml } from "npm:@decimalturn/toml-patch@3.3.0";
export { applyPatch, createTwoFilesPatch, parsePatch, reversePatch } from "npm:diff@9.0.0";
export { default as postgres } from "npm:postgres@3.4.9";
