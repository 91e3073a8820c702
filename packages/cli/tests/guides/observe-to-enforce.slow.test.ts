import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BacktestResult, listDecisions } from '@actlog/client/server';
import { expect, onTestFinished, test } from 'vitest';
import { commandEnvironment, commandLine } from '../command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { TestService } from '../test-service.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/observe-to-enforce.md'), 'utf8');

/** Returns the code of the blocks after a mark, in order. */
function blocksAfter(mark: string): string[] {
  const marked = new RegExp(`<!-- ${mark} -->\\n+\`\`\`\\w+\\n(.*?)\\n\`\`\``, 'gs');
  return [...guide.matchAll(marked)].map(([, code]) => String(code));
}

/** A folder in which the guide's commands and programs run from the sources. */
class Workplace {
  readonly #path = temporaryFolder();
  readonly #service: TestService;

  constructor(service: TestService) {
    this.#service = service;
    const packages = join(import.meta.dirname, '../../node_modules/@actlog');
    mkdirSync(join(this.#path, 'node_modules'));
    symlinkSync(packages, join(this.#path, 'node_modules/@actlog'));
    mkdirSync(join(this.#path, 'bin'));
    const command = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(' ');
    // `npx actlog …` of the guide
    writeFileSync(join(this.#path, 'bin/npx'), `#!/bin/sh\nshift\nexec ${command} "$@"\n`, { mode: 0o755 });
    // The recorder as the guide creates it, and the calls of a recorded week.
    const [program = ''] = blocksAfter('run: observed-agent.ts');
    const created = program.slice(0, program.indexOf('const session ='));
    const week = join(import.meta.dirname, 'support-week.jsonl');
    const driver = `
import { readFileSync } from 'node:fs';
for (const line of readFileSync(${JSON.stringify(week)}, 'utf8').trim().split('\\n')) {
  const { sessionId, ...call } = JSON.parse(line);
  const session = recorder.session(process.env.PREFIX + sessionId);
  await session.toolCall(call, () => fetch(process.env.ACTLOG_BASE_URL + '/healthz')).catch(() => {});
}
await recorder.close();
`;
    writeFileSync(join(this.#path, 'agent.ts'), created + driver);
  }

  async shell(code: string): Promise<string> {
    const env = { ...this.#service.env, PATH: `${join(this.#path, 'bin')}:${process.env.PATH}` };
    return this.#run('bash', ['-e', '-c', code], env);
  }

  /** Runs the agent for the recorded week. */
  async runWeek(guard: 'observe' | 'enforce', prefix: string): Promise<void> {
    await this.#run(process.execPath, [...commandLine.slice(0, -1), 'agent.ts'], {
      ...this.#service.agentEnv,
      ACTLOG_AGENT_ID: 'support',
      ACTLOG_GUARD: guard,
      ACTLOG_GUARD_ON_UNAVAILABLE: 'deny',
      ACTLOG_SPOOL_DIR: join(this.#path, 'spool'),
      PREFIX: prefix,
    });
  }

  async #run(command: string, args: readonly string[], variables: Record<string, string>): Promise<string> {
    const env = commandEnvironment(variables);
    const { stdout } = await promisify(execFile)(command, args, { cwd: this.#path, env });
    return stdout;
  }
}

/** Returns the calls of a week that policies denied or held, as `ticket-1 refund deny`. */
async function stopped(service: TestService, prefix: string): Promise<string[]> {
  const lines = new Set<string>();
  for await (const { sessionId, toolName, decision, decidedBy, heldStatus } of listDecisions(
    service.client,
  )) {
    if (!sessionId?.startsWith(prefix)) continue;
    // The decision about a held call is what became of it.
    const given = heldStatus === null ? decision : 'require_approval';
    const isStopped = heldStatus !== null || (decision !== 'allow' && decidedBy?.startsWith('pol_'));
    if (isStopped) lines.add(`${sessionId.slice(prefix.length)} ${toolName} ${given}`);
  }
  return [...lines].sort();
}

test('the guide "From observe to enforce in a week" leads to what its backtest said', async () => {
  const service = await TestService.start();
  onTestFinished(() => service.close());
  const workplace = new Workplace(service);
  const [tuesday, wednesday, thursday, friday, weekend, enforced] = blocksAfter('follow') as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];

  await workplace.runWeek('observe', 'observed-');
  expect(await workplace.shell(tuesday)).toMatch(/ allow +delete_account +support +observed-ticket-11/);
  expect(await workplace.shell(wednesday)).toContain('Tests: 4 passed');

  const shown = await workplace.shell(thursday);
  const withoutIds = (text: string) =>
    text
      .replaceAll(/dec_\w+/g, 'dec_')
      .replaceAll(/ +/g, ' ')
      .trim();
  const [, printed = ''] = /--count-dry-runs\n```\n\n```\n(.*?)\n```/s.exec(guide) ?? [];
  expect(withoutIds(shown)).toBe(withoutIds(printed));
  const { changes } = JSON.parse(await workplace.shell(`${thursday} --json`)) as BacktestResult;
  const predicted = changes.map(({ toolName, to, count }) => `${count} ${toolName} ${to}`).sort();

  expect(await workplace.shell(friday)).toContain('Applied 3 of 3 changes.');
  expect(await stopped(service, 'observed-')).toEqual([]);
  await workplace.runWeek('observe', 'weekend-');
  // Rates and histories do not count dry runs, so the second refunds are not among them.
  const report = await workplace.shell(weekend);
  expect(report.match(/ deny +delete_account /g)).toHaveLength(1);
  expect(report.match(/ require_approval +refund /g)).toHaveLength(4);

  const approver = new AbortController();
  const approving = (async () => {
    const { pendingActions } = service.client.guardian;
    for await (const { id } of pendingActions.watch({ intervalMs: 50, signal: approver.signal })) {
      await pendingActions.decide(id, { decision: 'approve' });
    }
  })();
  await workplace.runWeek('enforce', 'enforced-');
  approver.abort();
  await approving;
  const actual = Map.groupBy(await stopped(service, 'enforced-'), (line) => line.replace(/^\S+ /, ''));
  expect([...actual].map(([what, lines]) => `${lines.length} ${what}`).sort()).toEqual(predicted);
  expect(await workplace.shell(enforced)).toMatch(/ deny +delete_account +support +enforced-ticket-11/);
});
