import type { Patch } from "./vendored_modules.ts";

const FILE = "libpg-query/wasm/libpg-query.js";

/**
 * Leaves out Emscripten's file system and terminal. The parser only returns values; its system calls
 * for files answer that no file is open (`EBADF`).
 */
export const UNUSED_LIBPG_QUERY_CODE: readonly Patch[] = [
  {
    file: FILE,
    from: 'if(!Module["noFSInit"]&&!FS.initialized)FS.init();TTY.init();wasmExports["q"]();' +
      "FS.ignorePermissions=false",
    to: 'wasmExports["q"]()',
  },
  { file: FILE, from: "if(runDependencies){await resolveRunDependencies()}", to: "" },
  { file: FILE, from: /var PATH=\{[^]*?(?=var UTF8Decoder=)/g, to: "" },
  { file: FILE, from: /var FS_stdin_getChar_buffer=[^]*?(?=var lengthBytesUTF8=)/g, to: "" },
  { file: FILE, from: /var intArrayFromString=[^]*?(?=var UTF8ToString=)/g, to: "" },
  {
    file: FILE,
    from: /var SYSCALLS=\{[^]*?(?=var wasmTableMirror=)/g,
    to: "var _fd_close=()=>8,_fd_read=_fd_close,_fd_seek=_fd_close,_fd_write=_fd_close;",
  },
  {
    file: FILE,
    from: "FS.createPreloadedFile=FS_createPreloadedFile;FS.preloadFile=FS_preloadFile;" +
      "FS.staticInit();",
    to: "",
  },
];
