import type { Actlog, PendingAction } from '@actlog/client';
import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { parseDuration } from '../options/duration.ts';
import { formatOf } from '../output/format.ts';
import { jsonText } from '../output/json-text.ts';
import { note, print } from '../output/print.ts';
import { printDetails } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { styled } from '../output/style.ts';
import { Interruption } from '../terminal/interruption.ts';
import { actionDetails } from './action-columns.ts';
import { askApprover } from './ask-approver.ts';

interface Flags extends ClientFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly interval: number;
}

/** Adds `guardian watch`. */
export function addGuardianWatch(parent: Command): void {
  clientCommand(parent, {
    usage: 'watch',
    description:
      'show each held action as it comes, and in a terminal approve or deny it by a key press; in a pipe, print one JSON value on each line',
    examples: [
      ['actlog guardian watch', 'approve and deny in the terminal, until q or Ctrl+C'],
      ["actlog guardian watch | jq -r '.action.toolName'", 'for a script'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only actions of this agent')
    .option('--session <id>', 'only actions of this session')
    .addOption(
      new Option('--interval <duration>', 'delay between two requests while actions come')
        .argParser(parseDuration)
        .default(1000, '1s'),
    )
    .action(async (flags: Flags) => {
      const interruption = new Interruption();
      try {
        await watch(await connect(flags), flags, interruption);
      } catch (error) {
        interruption.check();
        throw error;
      } finally {
        interruption.close();
      }
      interruption.check();
    });
}

async function watch(client: Actlog, flags: Flags, interruption: Interruption): Promise<void> {
  const { agent: agentId, session: sessionId, interval: intervalMs } = flags;
  const { signal } = interruption;
  const isInteractive = Boolean(process.stdin.isTTY && process.stdout.isTTY) && formatOf(flags) === 'table';
  if (isInteractive) note('Waiting for held actions. Ctrl+C ends it.');
  const actions = client.guardian.pendingActions;
  for await (const action of actions.watch({ signal, agentId, sessionId, intervalMs })) {
    if (!isInteractive) await print(jsonText(action));
    else if (!(await decide(client, action, interruption))) return;
  }
}

/** Shows an action and carries out the approver's choice. Returns `false` if the approver quits. */
async function decide(client: Actlog, action: PendingAction, interruption: Interruption): Promise<boolean> {
  await print('');
  await printDetails(actionDetails(action));
  const choice = await askApprover(action, interruption.signal, () => interruption.interrupt());
  if (choice === 'quit') return false;
  if (choice === 'expired') await print(styled('dim', 'It expired without a decision.'));
  if (choice === 'skip') await print(styled('dim', 'Skipped: it stays pending.'));
  if (typeof choice === 'string') return true;
  try {
    const { status } = await client.guardian.pendingActions.decide(action.id, choice);
    const outcome = status ?? (choice.decision === 'approve' ? 'approved' : 'denied');
    await print(styled(choice.decision === 'approve' ? 'green' : 'red', `It is ${printable(outcome)}.`));
  } catch (error) {
    // Another approver was faster, or the time is over.
    if ((error as { status?: unknown }).status !== 409) throw error;
    note(printable((error as Error).message));
  }
  return true;
}
