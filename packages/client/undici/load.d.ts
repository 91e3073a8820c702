/** The parts of undici that actlog uses. */
export type Undici = Pick<
  typeof import('undici'),
  'Agent' | 'buildConnector' | 'EnvHttpProxyAgent' | 'Pool' | 'ProxyAgent'
>;

/**
 * Loads undici without its main module, which would install the global dispatcher of the process. Rejects in a build for
 * browsers or workers.
 */
export declare const loadUndici: () => Promise<Undici>;
