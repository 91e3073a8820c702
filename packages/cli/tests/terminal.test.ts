import { mapConcurrent } from '@actlog/client/scripts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { actlog } from './command-line.ts';
import { Terminal } from './terminal.ts';
import { TestService } from './test-service.ts';

const esc = '\u001b';
const escapes = new RegExp(`${esc}\\[[\\d;]*m`);
/** Ids that an agent chose: a long one, one of wide characters, one that clears the screen and one that reorders text. */
const ids = {
  long: `long-${'x'.repeat(150)}`,
  wide: '会議の議事録を要約する会議の議事録を要約する👩🏽',
  reordering: 'safe\u202egnp.exe\u2066',
  invisible: 'bill\u200bing',
};

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
  for (const id of Object.values(ids)) {
    await service.record(
      id,
      ['get_order', 'send_email', 'append_note', 'a_tool_with_a_long_name'],
      id === ids.reordering ? id : 'billing',
    );
  }
});

afterAll(() => service.close());

/** Columns that a line takes, by the widths that terminals give these characters. */
function columnsOf(line: string): number {
  const wide = /\p{Script=Han}|\p{Script=Hiragana}|\p{Emoji_Presentation}|\p{Script=Katakana}/u;
  return [...new Intl.Segmenter().segment(line)].reduce(
    (sum, { segment }) => sum + (wide.test(segment) ? 2 : 1),
    0,
  );
}

describe('a table in a terminal', () => {
  it.each([40, 80, 200])('fits %i columns', async (columns) => {
    const terminal = Terminal.actlog(['sessions', 'list'], { columns, env: service.env });
    expect(await terminal.ended()).toBe(0);
    const lines = terminal.text.trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    // Where there is room, a column is not cut.
    expect(terminal.text.includes(ids.wide), terminal.text).toBe(columns === 200);
  });

  it('has colors, and none with NO_COLOR', async () => {
    const colored = Terminal.actlog(['sessions', 'list'], { env: service.env });
    await colored.ended();
    expect(colored.raw).toMatch(escapes);
    const plain = Terminal.actlog(['sessions', 'list'], { env: { ...service.env, NO_COLOR: '1' } });
    await plain.ended();
    expect(plain.raw).not.toMatch(escapes);
  });

  it.each([['list'], ['list', '--json'], ['show', ids.reordering], ['show', ids.invisible, '--jsonl']])(
    'shows characters that reorder or hide text as escapes: sessions %j',
    async (...args) => {
      const terminal = Terminal.actlog(['sessions', ...args], { columns: 200, env: service.env });
      expect(await terminal.ended()).toBe(0);
      expect(terminal.raw).toMatch(/\\u20(2e|0b)/);
      expect(terminal.raw).not.toMatch(/[\u200b\u202e\u2066]/);
    },
  );

  it('shows an escape sequence in an error as text', async () => {
    const terminal = Terminal.actlog([`x${esc}[2J`], { env: service.env });
    expect(await terminal.ended()).toBe(2);
    expect(terminal.raw).toContain('x\\u001b[2J');
    expect(terminal.raw).not.toContain(`${esc}[2J`);
  });
});

describe('a pipe', () => {
  it('has no colors, unless FORCE_COLOR is set', async () => {
    const { stdout } = await actlog(['sessions', 'list'], { env: service.env });
    expect(stdout).not.toContain(esc);
    const forced = await actlog(['sessions', 'list'], { env: { ...service.env, FORCE_COLOR: '1' } });
    expect(forced.stdout).toMatch(escapes);
  });

  it('cuts nothing', async () => {
    const { stdout } = await actlog(['sessions', 'list'], { env: service.env });
    expect(stdout).toContain(ids.long);
  });

  it.each(['--jsonl', '--json', ''])('ends without an error when its reader leaves: %s', async (format) => {
    const large = await TestService.start();
    onTestFinished(() => large.close());
    // More than the 64 KiB that a pipe holds, so that the command still writes when its reader has left.
    const ids = Array.from({ length: 400 }, (_, index) => `order-${index}-${'x'.repeat(150)}`);
    for await (const _recorded of mapConcurrent(ids, (id) => large.record(id, ['get_order']))) {
      // All are recorded before the list is read.
    }
    const list = `"$@" sessions list --limit all ${format}`;
    const line = `${list} | head -1 > /dev/null; echo "exit codes: \${PIPESTATUS[@]}"`;
    const terminal = Terminal.bash(`set -- ${Terminal.quotedCommand}; ${line}`, { env: large.env });
    await terminal.ended();
    expect(terminal.text).toBe('exit codes: 0 0\n');
  });
});

describe('guardian watch', () => {
  it('approves an action by a key press, and goes on', async () => {
    const id = await service.hold('refund', { amount: 40, note: `x${esc}[2J` });
    const terminal = Terminal.actlog(['guardian', 'watch', '--interval', '100ms'], { env: service.env });
    await terminal.shows('[a]pprove  [d]eny');
    expect(terminal.text).toMatch(/^tool +refund$/m);
    expect(terminal.text).toMatch(/^reason +A person decides\.$/m);
    expect(terminal.text).toContain('{"amount":40,"note":"x\\u001b[2J"}');
    terminal.type('a');
    await terminal.shows('It is approved.');
    const [action] = await service.client.guardian.pendingActions.list({ status: 'approved' }).toArray();
    expect(action).toMatchObject({ id, decision: { decision: 'approve' } });

    await service.hold('delete_file');
    await terminal.shows(/tool +delete_file\n[\s\S]*\[q\]uit $/);
    terminal.type('c');
    await terminal.shows('Comment, which the model reads: ');
    terminal.type('Ask first.\r');
    await terminal.shows(/Ask first\.[\s\S]*\[q\]uit $/);
    terminal.type('d');
    await terminal.shows('It is denied.');
    const [denied] = await service.client.guardian.pendingActions.list({ status: 'denied' }).toArray();
    expect(denied).toMatchObject({ decision: { decision: 'deny', comment: 'Ask first.' } });
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
  });

  it('restores the terminal and exits with 130 for Ctrl+C at the question', async () => {
    await service.hold('transfer');
    const watch = `${Terminal.quotedCommand} guardian watch`;
    const line = `before=$(stty -g); ${watch}; echo "exit code: $?"; [ "$(stty -g)" = "$before" ] && echo restored`;
    const terminal = Terminal.bash(`trap : INT; ${line}`, { env: service.env });
    await terminal.shows('[q]uit ');
    terminal.type('\u0003');
    await terminal.shows('exit code: 130');
    await terminal.ended();
    expect(terminal.text).toContain('restored');
  });

  it('reports an action that another approver decided meanwhile', async () => {
    const id = await service.hold('rename');
    const flags = ['--interval', '100ms', '--session', 's'];
    const terminal = Terminal.actlog(['guardian', 'watch', ...flags], { env: service.env });
    await terminal.shows('[q]uit ');
    while (!terminal.text.includes(id)) {
      terminal.type('s');
      await terminal.shows(/Skipped[\s\S]*\[q\]uit $/);
    }
    await service.client.guardian.pendingActions.decide(id, { decision: 'deny' });
    terminal.type('a');
    await terminal.shows(/already/i);
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
  });

  it('prints JSON Lines in a pipe', async () => {
    const line = `${Terminal.quotedCommand} guardian watch | head -1`;
    const terminal = Terminal.bash(line, { columns: 2000, env: service.env });
    await terminal.shows('\n');
    expect(JSON.parse(terminal.text)).toMatchObject({ status: 'pending' });
    // The reader has left, which the command sees at its next line.
    await service.hold('one_more');
    expect(await terminal.ended()).toBe(0);
  });
});

describe('a question', () => {
  it('is asked in a terminal before a policy is archived', async () => {
    const { id } = await service.client.policies.create({ name: 'No tables', effect: 'deny' });
    const asked = Terminal.actlog(['policies', 'archive', id], { env: service.env });
    await asked.shows('Do you want to archive the policy "No tables" permanently? [y/N]');
    asked.type('n\r');
    await asked.shows('Nothing was changed.');
    expect(await asked.ended()).toBe(0);
    expect((await service.client.policies.get(id)).status).toBe('active');

    const interrupted = Terminal.actlog(['policies', 'archive', id], { env: service.env });
    await interrupted.shows('[y/N]');
    interrupted.type('\u0003');
    expect(await interrupted.ended()).toBe(130);

    const piped = await actlog(['policies', 'archive', id], { env: service.env });
    expect(piped.exitCode).toBe(2);
    expect(piped.stderr).toMatch(/^error: Add --yes to archive the policy/);
    expect((await service.client.policies.get(id)).status).toBe('active');

    const confirmed = await actlog(['policies', 'archive', id, '--yes'], { env: service.env });
    expect(confirmed.stdout).toMatch(/^status +archived$/m);
  });
});
