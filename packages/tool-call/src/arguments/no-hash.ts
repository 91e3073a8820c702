/** Replacement for a hash that could not be computed; it matches no arguments. */
export const noHash = 'sha256:unavailable';
