/**
 * The timeout passed to the SDKs: the maximum of a timer, in milliseconds. The caller's signal and
 * the transport's idle timeout decide instead.
 */
export const SDK_TIMEOUT_MS = 2_147_483_647;
