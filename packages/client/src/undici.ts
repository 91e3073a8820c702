/**
 * undici for packages that extend the client: loaded without changing the global dispatcher of the process.
 *
 * @packageDocumentation
 */
export { loadUndici, type Undici } from '#load-undici';
