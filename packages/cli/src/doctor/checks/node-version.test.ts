import { readFileSync } from 'node:fs';
import { satisfies } from 'semver';
import { expect, test } from 'vitest';
import { isSupported } from '../checks.ts';

const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

test.each(['20.19.0', '22.18.0', '22.19.0', '23.11.0', '24.10.0', '24.11.0', '25.0.0', '26.10.0'])(
  'judges Node.js %s by the range of package.json',
  (version) => {
    expect(isSupported(version)).toBe(satisfies(version, engines.node));
  },
);
