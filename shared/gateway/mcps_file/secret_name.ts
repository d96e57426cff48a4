/** Names of headers, query entries and parameters that hold secrets. */
export const SECRET_NAME = /(^|[-_.])(api-?_?key|authorization|cookie|key|password|secret|token)$/i;
