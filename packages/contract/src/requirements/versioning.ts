import { inSection } from '../requirement.ts';

/** Requirements for versions of the interface. */
export const versioning = inSection('Versioning', [
  ['VER-01', 'MUST', '1', 'The endpoints are served under the path prefix `/v1`.'],
  ['VER-02', 'OPEN', 'deprecation', 'Deprecation notices in responses.'],
]);
