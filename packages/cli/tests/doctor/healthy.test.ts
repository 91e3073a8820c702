import { expect, test } from 'vitest';
import { checks } from '../../src/doctor/checks.ts';
import { TestSetup } from './fixture.ts';

test('finds nothing wrong with a set-up that is in order', async () => {
  const setup = await TestSetup.create();
  const { stdout, stderr, exitCode } = await setup.run();
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.slice(0, 2))).toEqual(checks.map(() => '✓ '));
  expect(stdout).not.toContain('\u001b');
  expect(stdout).not.toContain(setup.env.ACTLOG_API_KEY);
});
