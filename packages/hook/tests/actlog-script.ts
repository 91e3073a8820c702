import { fileURLToPath } from 'node:url';

/** Path of the command `actlog`. */
export const actlogScript = fileURLToPath(new URL('../../cli/src/bin.ts', import.meta.url));
