/**
 * What the SDKs get as their own timeout: the longest that a timer can hold, in milliseconds.
 * The caller's signal and the transport's idle timeout decide instead.
 */
export const SDK_TIMEOUT_MS = 2_147_483_647;
