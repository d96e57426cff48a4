/**
 * Bytes in memory of their own, as WebCrypto takes them. Named by what makes them: TypeScript's
 * newer libraries say `Uint8Array<ArrayBuffer>`, the edge runtime's know no such parameter.
 */
export type Bytes = ReturnType<TextEncoder["encode"]>;
