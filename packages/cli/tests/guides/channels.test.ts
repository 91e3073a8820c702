import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newCall } from '../../../hook/tests/agent-events.ts';
import { runHook } from '../../../hook/tests/hook-process.ts';
import { LoopbackMail } from '../../../server/tests/channels/loopback-mail.ts';
import { LoopbackSlack } from '../../../server/tests/channels/loopback-slack.ts';
import { SignedIn, signInSetup } from '../../../server/tests/sign-in/sign-in-setup.ts';
import { actlog } from '../command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/channels.md'), 'utf8');

/** Returns the commands of a section, as printed. */
function commandsOf(heading: string): string[] {
  const section = guide.split(/^###? /m).find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.trim().split('\n'));
}

/** Returns the words of a command of a shell, without its quotes. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

test('the guide leads to a held rm that a person approves in Slack', async () => {
  const slack = await LoopbackSlack.start();
  const mail = await LoopbackMail.start();
  slack.members.set('UGRACE', { email: 'grace@example.com' });
  const { server, url } = await signInSetup({ ...slack.settings, ...mail.settings });
  const env = { ACTLOG_BASE_URL: server.server.url, ACTLOG_API_KEY: server.apiKey };
  const run = async (command: string) => {
    const [name, ...args] = wordsOf(command);
    expect(name).toBe('actlog');
    const { stdout, stderr, exitCode } = await actlog(args, { env });
    expect({ command, stderr, exitCode }).toEqual({ command, stderr: '', exitCode: 0 });
    return stdout;
  };

  // The app asks for what the server calls, and reports clicks where the server listens.
  const manifest = JSON.parse(/```json\n(\{.*?"display_information".*?)```/s.exec(guide)?.[1] ?? '{}');
  expect(manifest.oauth_config.scopes.bot).toEqual(['chat:write', 'users:read', 'users:read.email']);
  const { pathname } = new URL(manifest.settings.interactivity.request_url);

  const [added = ''] = commandsOf('3. Add the channel');
  const [, id = ''] = /^channel +(chn_\w+)$/m.exec(await run(added)) ?? [];
  await run(`actlog channels test ${id}`);
  expect((await slack.called('chat.postMessage'))[0]?.fields.text).toContain('On call');
  await SignedIn.as('grace', url);
  const [policy = '', install = ''] = commandsOf('5. Hold what deletes files');
  await run(policy);
  for (const command of commandsOf('Ask the next person')) await run(command);

  const [, , , ...options] = wordsOf(install);
  const home = temporaryFolder();
  const callShell = (command: string) => {
    const call = newCall({ command });
    const event = {
      session_id: call.sessionId,
      transcript_path: join(home, 'transcript.jsonl'),
      cwd: home,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command },
      tool_use_id: call.id,
    };
    const agentKey = String(server.server.agentKey);
    const variables = { ...env, ACTLOG_API_KEY: agentKey, HOME: home, ACTLOG_SPOOL_DIR: join(home, 'spool') };
    return runHook(['claude-code', ...options], event, variables);
  };
  const press = async (button: 'actlog_approve' | 'actlog_deny') => {
    const { body, headers } = await slack.click({ user: 'UGRACE', button });
    expect((await fetch(`${server.server.url}${pathname}`, { method: 'POST', headers, body })).status).toBe(
      200,
    );
  };
  const approved = callShell('rm -rf build');
  const card = (await slack.called('chat.postMessage', 2))[1];
  expect(slack.shown(card)).toContain('rm -rf build');
  expect(slack.shown(card)).toContain('Deleting files needs a person');
  await press('actlog_approve');
  // Without output, the agent goes on.
  expect(await approved).toMatchObject({ exitCode: 0, output: undefined });
  expect(slack.shown((await slack.called('chat.update'))[0])).toContain('Approved by grace@example.com.');
  const denied = callShell('rm -rf .git');
  await slack.called('chat.postMessage', 3);
  await press('actlog_deny');
  expect((await denied).output).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  // Nobody had to be asked a second time.
  expect(mail.mails).toEqual([]);

  for (const command of commandsOf('Alerts')) await run(command);
});
