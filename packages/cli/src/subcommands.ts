import type { Subcommand } from './subcommand.ts';

/** All subcommands by name, in the order of `actlog --help`. */
export const subcommands: Readonly<Record<string, Subcommand>> = {};
