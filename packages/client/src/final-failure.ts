/**
 * A hook of the caller failed, or the place where the bytes go, such as a disk that is full. Not the network's fault:
 * the call ends with `cause`, which may be any value, and is not tried again.
 */
export class FinalFailure extends Error {}
