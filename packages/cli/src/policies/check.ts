import type { CheckResult, PolicyCheck } from '@actlog/client';
import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { parseObject } from '../options/read-json.ts';
import { formatOf } from '../output/format.ts';
import { print } from '../output/print.ts';
import { printRecord } from '../output/print-record.ts';
import { terminalWidth } from '../output/printable.ts';
import { type Column, Table } from '../output/table.ts';
import { deciderText, effectStyle, policyText } from './policy-columns.ts';

interface CheckFlags extends ClientFlags {
  readonly agent: string;
  readonly arguments?: Record<string, unknown>;
  readonly session?: string;
  readonly framework?: string;
  readonly environment?: string;
  readonly actionId?: string;
  readonly principal?: string;
  readonly subagent?: string;
  readonly inside?: readonly string[];
  readonly real?: true;
}

type Matched = NonNullable<CheckResult['matched']>[number];

const columns: readonly Column<Matched>[] = [
  { title: 'POLICY', value: policyText, minWidth: 36 },
  { title: 'EFFECT', value: ({ effect }) => effect, style: ({ effect }) => effectStyle(effect) },
  { title: 'MODE', value: ({ mode }) => mode },
  { title: 'WHY', value: ({ why }) => why },
];

/** Adds `policies check`. */
export function addPoliciesCheck(parent: Command): void {
  clientCommand(parent, {
    usage: 'check <tool>',
    description:
      'show what the policies decide about a tool call, and why; nothing is counted, held or recorded',
    examples: [
      'actlog policies check refund --agent billing --arguments \'{"amount":900}\'',
      ['actlog policies check refund --agent billing --json | jq -r .decision', 'the decision alone'],
    ],
  })
    .optionsGroup('Action:')
    .requiredOption('--agent <id>', 'agent that would act')
    .option('--arguments <json>', 'JSON object with the arguments, which conditions read', parseObject)
    .option('--session <id>', 'session of the action')
    .option('--framework <name>', 'AI framework of the agent')
    .option('--environment <name>', 'environment, such as production')
    .option('--principal <name>', 'person or system on whose behalf the agent acts')
    .option('--subagent <name>', "name of the agent's subagent that acts")
    .option('--inside <id...>', 'agents that the agent runs inside, nearest first')
    .option('--action-id <id>', 'identifies the action across repeated checks')
    .option('--real', 'check as an agent does: the action is counted, and held where a policy says so')
    .action(async (toolName: string, flags: CheckFlags) => {
      const client = await connect(flags);
      const result = await client.policies.check(await checkOf(toolName, flags), { dryRun: !flags.real });
      await printRecord(result, detailsOf(result), flags);
      const { matched = [] } = result;
      if (formatOf(flags) !== 'table' || matched.length === 0) return;
      const table = new Table(columns, terminalWidth());
      table.fit(matched);
      await print(`\n${table.header()}`);
      for (const policy of matched) await print(table.line(policy));
    });
}

async function checkOf(toolName: string, flags: CheckFlags): Promise<PolicyCheck> {
  const { hashArguments } = await import('@actlog/recorder');
  const { arguments: shown, agent: agentId, session: sessionId, framework, environment } = flags;
  const { actionId, principal, subagent, inside } = flags;
  const argumentsHash = await hashArguments(shown ?? {});
  return {
    agentId,
    action: { toolName, argumentsHash, ...(shown && { arguments: shown }) },
    ...(sessionId !== undefined && { sessionId }),
    ...(framework !== undefined && { framework }),
    ...(environment !== undefined && { environment }),
    ...(actionId !== undefined && { actionId }),
    ...(principal !== undefined && { principal }),
    ...(subagent !== undefined && { subagent }),
    ...(inside !== undefined && { parentAgentIds: [...inside] }),
  };
}

function detailsOf(result: CheckResult) {
  const { decision, comment, pendingActionId, expiresAt } = result;
  return [
    ['decision', decision, effectStyle(decision)],
    ['decided by', deciderText(result)],
    ['comment', comment],
    ['held as', pendingActionId],
    ['expires', expiresAt],
  ] as const;
}
