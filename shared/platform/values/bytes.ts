/**
 * Bytes in their own memory, as WebCrypto requires. Defined by a constructor: TypeScript's newer
 * libraries use `Uint8Array<ArrayBuffer>`, but the edge runtime's have no such parameter.
 */
export type Bytes = ReturnType<TextEncoder["encode"]>;
