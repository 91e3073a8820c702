/**
 * Records and guards the tools of coding agents by their hooks.
 *
 * @packageDocumentation
 */
export { version } from './version.ts';
