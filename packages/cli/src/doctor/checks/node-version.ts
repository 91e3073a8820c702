import { type Check, found, ok } from '../check.ts';

/** Check of the version of Node.js against the range in package.json's `engines`. */
export const nodeVersion: Check = {
  id: 'node',
  title: 'Node.js',
  run() {
    const { node: version } = process.versions;
    return isSupported(version) ? ok(version) : found('node-unsupported', { version });
  },
};

/** Returns `true` for `^22.19.0 || >=24.11.0`. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major === 22 && minor >= 19) || (major === 24 && minor >= 11) || major > 24;
}
