import type { Actlog } from '@actlog/client';
import { type ActionDecision, type ActionDecisionResult, decideActions } from '@actlog/client/server';
import { jsonFlaw, parseExactJson } from '@actlog/protocol';
import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { ExitCodeError, UsageError } from '../errors/usage-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseSeconds } from '../options/duration.ts';
import { definedFields, parseCount } from '../options/numbers.ts';
import { printList } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import type { Column } from '../output/table.ts';
import { actionDetails, statusStyle } from './action-columns.ts';

interface DecideFlags extends ClientFlags {
  readonly comment?: string;
  readonly grant?: 'action' | 'tool';
  readonly grantFor?: number;
  readonly grantUses?: number;
  readonly set?: Readonly<Record<string, unknown>>;
}

type Decision = Omit<ActionDecision, 'id'>;

/** Adds `guardian approve` and `guardian deny`. */
export function addGuardianDecisions(parent: Command): void {
  const approve = addDecision(parent, 'approve', 'let held actions run', [
    'actlog guardian approve pac_0198c1d2e3f47a5b8c6d7e8f90a1b2c3',
    ['actlog guardian approve ID ID ID', 'several at once, each with its own result'],
    [
      'actlog guardian approve ID --grant tool --grant-for 30m',
      'also later calls of the tool in the session',
    ],
    ['actlog guardian approve ID --set amount=500', 'with a changed argument, if the policy permits it'],
  ]);
  approve
    .optionsGroup('Changed arguments:')
    .option(
      '--set <path=value>',
      'change a shown argument within the limits of the policy, such as amount=500, to=ada or paths=\'["a"]\'; can be repeated',
      parseChange,
    );
  approve
    .optionsGroup('Later actions of the same session:')
    .addOption(
      new Option(
        '--grant <scope>',
        'let the same action, or any call of the same tool, run again without an approval',
      ).choices(['action', 'tool']),
    )
    .option(
      '--grant-for <duration>',
      'time for which the grant is valid, at most 24h; 1h by default',
      parseSeconds,
    )
    .option('--grant-uses <number>', 'number of actions that the grant lets run; any by default', parseCount);
  addDecision(parent, 'deny', 'keep held actions from running', [
    ['actlog guardian deny ID --comment "Ask the customer first."', 'the model reads the comment'],
  ]);
}

function addDecision(
  parent: Command,
  decision: 'approve' | 'deny',
  description: string,
  examples: Parameters<typeof clientCommand>[1]['examples'],
): Command {
  return clientCommand(parent, {
    usage: `${decision} <ids...>`,
    description: `${description}; final`,
    examples,
  })
    .option('--comment <text>', 'comment that is passed to the agent, so write it for the model')
    .action(async (ids: string[], flags: DecideFlags) => {
      const [id, ...others] = [...new Set(ids)] as [string, ...string[]];
      const changes = definedFields({ comment: flags.comment, changedArguments: flags.set });
      const body: Decision = { decision, ...changes, ...grantOf(flags) };
      if (flags.set && others.length > 0) {
        throw new UsageError('--set changes the arguments of one action: give exactly one id.');
      }
      if (others.length > 0) return decideSeveral([id, ...others], body, flags);
      const client = await connect(flags);
      const action = await client.guardian.pendingActions.decide(id, body);
      return printRecord(action, actionDetails(action), flags);
    });
}

/** Adds a change such as `amount=500`. A value that is not JSON is a text. */
function parseChange(
  given: string,
  former: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const end = given.indexOf('=');
  if (end < 1) {
    throw new UsageError(
      `--set must be a path and a value such as amount=500, got ${JSON.stringify(given)}.`,
    );
  }
  const [path, text] = [given.slice(0, end), given.slice(end + 1)];
  if (Object.hasOwn(former, path)) throw new UsageError(`--set names ${path} twice; give it once.`);
  // Assignments would set the prototype for `__proto__`.
  return { ...former, [path]: setValueOf(text) };
}

function setValueOf(text: string): unknown {
  let flaw: { readonly message: string } | undefined;
  try {
    JSON.parse(text);
    flaw = jsonFlaw(text);
  } catch {
    return text;
  }
  if (flaw) throw new UsageError(`A value of --set ${flaw.message}.`);
  return parseExactJson(text);
}

function grantOf({
  grant,
  grantFor: durationSeconds,
  grantUses: maxUses,
}: DecideFlags): Pick<Decision, 'grant'> {
  if (grant !== undefined) return { grant: { for: grant, ...definedFields({ durationSeconds, maxUses }) } };
  if (durationSeconds === undefined && maxUses === undefined) return {};
  throw new UsageError('--grant-for and --grant-uses need --grant action or --grant tool.');
}

const columns: readonly Column<ActionDecisionResult>[] = [
  { title: 'ACTION', value: ({ id }) => id, minWidth: 36 },
  {
    title: 'STATUS',
    value: ({ action }) => action?.status ?? 'refused',
    style: ({ action }) => statusStyle(action?.status) ?? 'red',
  },
  { title: 'AGENT', value: ({ action }) => action?.agentId },
  { title: 'TOOL', value: ({ action }) => action?.action?.toolName, style: () => 'bold', minWidth: 10 },
  { title: 'PROBLEM', value: ({ error }) => error?.message ?? '', minWidth: 20 },
];

/** @throws ExitCodeError after all results are printed, when a decision was refused */
async function decideSeveral(ids: readonly string[], body: Decision, flags: DecideFlags): Promise<void> {
  const client = await connect(flags);
  let refused = 0;
  async function* results(): AsyncGenerator<ActionDecisionResult> {
    for await (const result of decideEach(client, ids, body)) {
      if (result.error) refused += 1;
      yield result;
    }
  }
  const unlimited = { ...flags, limit: Number.POSITIVE_INFINITY };
  await printList(results(), { columns, flags: unlimited, noun: 'results' });
  if (refused === 0) return;
  throw new ExitCodeError(`${refused} of ${ids.length} decisions were refused.`, exitCodes.failed);
}

/** Decisions in one request. */
const decisionsAtOnce = 100;

/** Error of the client, as far as it shows what the service responded. */
interface ServiceError {
  readonly status?: number;
  readonly code?: string;
  readonly message: string;
}

/**
 * Decides several actions in the same way, and yields one result for each. A service without the endpoint for several
 * decisions gets one request for each.
 */
async function* decideEach(
  client: Actlog,
  ids: readonly string[],
  body: Omit<ActionDecision, 'id'>,
): AsyncGenerator<ActionDecisionResult> {
  for (let from = 0; from < ids.length; from += decisionsAtOnce) {
    const decisions = ids.slice(from, from + decisionsAtOnce).map((id) => ({ id, ...body }));
    const results = await decideActions(client, decisions).catch((error: ServiceError) => {
      if (error.status === 404 || error.status === 405) return undefined;
      throw error;
    });
    if (results) yield* results;
    else for (const decision of decisions) yield await decideAlone(client, decision);
  }
}

async function decideAlone(client: Actlog, { id, ...body }: ActionDecision): Promise<ActionDecisionResult> {
  try {
    return { id, action: await client.guardian.pendingActions.decide(id, body), error: null };
  } catch (error) {
    const { status, code = 'UNKNOWN', message } = error as ServiceError;
    // Without a response, or without permission, the next decision would fail the same way.
    if (status === undefined || status === 401) throw error;
    return { id, action: null, error: { code, message } };
  }
}
