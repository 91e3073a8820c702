import { expect, test } from 'vitest';
import { Terminal } from '../terminal.ts';
import { TestSetup } from './fixture.ts';

test('marks its lines in color in a terminal', async () => {
  const setup = await TestSetup.create();
  const terminal = Terminal.actlog(['doctor', '--dir', setup.dir], { env: setup.env });
  expect(await terminal.ended()).toBe(0);
  expect(terminal.raw).toContain('\u001b[32m✓\u001b[39m Service');
  const wrong = Terminal.actlog(['doctor', '--dir', setup.dir], {
    env: { ...setup.env, ACTLOG_API_KEY: 'al_test_0123456789' },
  });
  expect(await wrong.ended()).toBe(1);
  expect(wrong.raw).toContain('\u001b[31m✗\u001b[39m Key accepted');
  expect(wrong.raw).toContain('\u001b[1mFix:\u001b[22m');
});

test('shows no escape sequence of a response', async () => {
  const setup = await TestSetup.create();
  const terminal = Terminal.actlog(['doctor', '--dir', setup.dir], {
    env: { ...setup.env, ACTLOG_SPOOL_DIR: '/dev/null/\u001b[2Jspool', NO_COLOR: '1' },
  });
  expect(await terminal.ended()).toBe(1);
  expect(terminal.raw).not.toContain('\u001b[2J');
});
