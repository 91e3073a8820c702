import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failureReasons } from '../../src/forward/destination.ts';
import { forwardSetting } from '../../src/forward/forward-settings.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/forwarding.md'), 'utf8');

test('accepts each example of the guide, one for each kind of destination', () => {
  const examples = [...guide.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) =>
    forwardSetting.parse(json),
  );
  expect(examples.flat().map(({ kind }) => kind)).toEqual(['splunk', 'elastic', 'syslog', 'otlp', 's3']);
});

test('explains each reason of a failure', () => {
  for (const reason of failureReasons) expect(guide).toContain(`\`${reason}\``);
});
