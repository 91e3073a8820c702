import { inSection } from '../requirement.ts';

/** Versions of the interface. */
export const versioning = inSection('Versioning', [
  ['VER-01', 'MUST', '1', 'The endpoints are served under the path prefix `/v1`.'],
  ['VER-02', 'OPEN', 'deprecation', 'Whether answers announce a deprecation.'],
]);
