/** Loads undici; rejects in a build for browsers or workers. */
export declare const loadUndici: () => Promise<typeof import('undici')>;
