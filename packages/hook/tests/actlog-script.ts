import { fileURLToPath } from 'node:url';

/** Path of the command `actlog`. */
export const actlogScript = fileURLToPath(new URL('./from-sources/bin.js', import.meta.url));
