import type { PolicyCreate, PolicyUpdate } from '@actlog/client';
import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { CanceledError, UsageError } from '../errors/usage-error.ts';
import { parseSeconds } from '../options/duration.ts';
import { definedFields, parseCount, parseWholeNumber } from '../options/numbers.ts';
import { parseObject, readObject } from '../options/read-json.ts';
import { printRecord } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { canPrompt, confirm } from '../terminal/confirm.ts';
import { policyDetails } from './policy-columns.ts';

/** Adds `policies create`. */
export function addPoliciesCreate(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'create',
    description: 'create a policy from options or from a JSON file',
    examples: [
      [
        "actlog policies create --name 'Refunds need a person' --effect require_approval --tools 'refund*'",
        'hold every refund',
      ],
      'actlog policies create --file policy.json --mode log_only',
    ],
  });
  addPolicyFieldOptions(command).action(async (flags: ClientFlags & PolicyFieldFlags) => {
    const fields = await policyFields(flags);
    for (const required of ['name', 'effect']) {
      if (fields[required] === undefined) {
        throw new UsageError(
          `A policy needs a field "${required}": add --${required}, or the field in --file.`,
        );
      }
    }
    const client = await connect(flags);
    const complete = { ...fields, ...completeApproval(fields, undefined) };
    // The service validates the fields, and names those that are invalid.
    const policy = await withFlagNames(client.policies.create(complete as unknown as PolicyCreate));
    await printRecord(policy, policyDetails(policy), flags);
  });
}

/** Adds `policies update`. */
export function addPoliciesUpdate(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'update <id>',
    description: 'change the given fields of a policy; null in a JSON file removes a field',
    examples: [
      ['actlog policies update ID --mode enforce', 'enforce a policy that only reported'],
      'echo \'{"condition":null}\' | actlog policies update ID --file -',
    ],
  });
  addPolicyFieldOptions(command).action(async (id: string, flags: ClientFlags & PolicyFieldFlags) => {
    const fields = await policyFields(flags);
    if (Object.keys(fields).length === 0) {
      throw new UsageError('Nothing to change: add a field, such as --mode, or --file.');
    }
    const client = await connect(flags);
    // An approval that the policy has is merged; a new one has to be complete.
    const isPartial = Object.keys(completeApproval(fields, undefined)).length > 0;
    const before = isPartial ? await client.policies.get(id) : undefined;
    const complete = { ...fields, ...completeApproval(fields, before?.approval) };
    const policy = await withFlagNames(client.policies.update(id, complete as PolicyUpdate));
    await printRecord(policy, policyDetails(policy), flags);
  });
}

/** Adds `policies archive`. */
export function addPoliciesArchive(parent: Command): void {
  clientCommand(parent, {
    usage: 'archive <id>',
    description: 'archive a policy permanently: it no longer decides, and can still be read',
    examples: ['actlog policies archive ID', 'actlog policies archive ID --yes'],
  })
    .option('--yes', 'archive without a question; needed without a terminal')
    .action(async (id: string, flags: ClientFlags & { readonly yes?: true }) => {
      const client = await connect(flags);
      // In a terminal, confirm by name.
      const name = flags.yes || !canPrompt() ? id : ((await client.policies.get(id)).name ?? id);
      if (!(await confirm(`archive the policy "${printable(name)}" permanently`, flags.yes))) {
        throw new CanceledError();
      }
      const policy = await client.policies.archive(id);
      await printRecord(policy, policyDetails(policy), flags);
    });
}

/** Options with the fields of a policy. */
interface PolicyFieldFlags {
  readonly file?: string;
  readonly name?: string;
  readonly effect?: string;
  readonly description?: string;
  readonly mode?: string;
  readonly priority?: number;
  readonly condition?: string;
  readonly message?: string;
  readonly tools?: string[];
  readonly agents?: string[];
  readonly frameworks?: string[];
  readonly environments?: string[];
  readonly rateMax?: number;
  readonly rateWindow?: number;
  readonly ratePer?: string;
  readonly timeout?: number;
  readonly onTimeout?: string;
  readonly singleUse?: boolean;
  readonly approvers?: number;
  readonly approverKeys?: string[];
  readonly approverGroups?: string[];
  readonly notRequester?: boolean;
  readonly editable?: Record<string, unknown>[];
  readonly verifiedPrincipal?: boolean;
  readonly scheduleZone?: string;
  readonly scheduleDays?: string[];
  readonly scheduleFrom?: string;
  readonly scheduleTo?: string;
}

/** Adds the options with the fields of a policy. */
function addPolicyFieldOptions(command: Command): Command {
  return command
    .optionsGroup('Fields:')
    .option(
      '--file <file>',
      'JSON file with the fields, or - for standard input; options override its fields',
    )
    .option('--name <text>', 'display name')
    .addOption(
      new Option('--effect <effect>', 'effect on an action').choices(['allow', 'deny', 'require_approval']),
    )
    .option('--description <text>', 'purpose of the policy')
    .addOption(
      new Option('--mode <mode>', 'log_only reports without deciding').choices(['enforce', 'log_only']),
    )
    .option('--priority <number>', 'order among policies with the same effect', parseWholeNumber)
    .option('--condition <cel>', 'CEL expression that must be true as well')
    .option('--message <text>', 'message to the caller, read by the model')
    .optionsGroup('Actions that it applies to (* matches any characters):')
    .option('--tools <names>', 'tools, separated by commas or in several options', collect)
    .option('--agents <ids>', 'agents', collect)
    .option('--frameworks <names>', 'AI frameworks', collect)
    .option('--environments <names>', 'environments, such as production', collect)
    .optionsGroup('Only beyond a rate:')
    .option('--rate-max <number>', 'actions allowed in the window', parseWholeNumber)
    .option('--rate-window <duration>', 'length of the window, such as 1h', parseSeconds)
    .addOption(new Option('--rate-per <scope>', 'scope of the count').choices(['agent', 'session', 'tenant']))
    .optionsGroup('Only at certain times:')
    .option('--schedule-zone <name>', 'time zone of the days and times, such as Europe/Berlin')
    .option('--schedule-days <days>', 'days such as mon,tue; every day by default', collect)
    .option('--schedule-from <time>', 'start on each day, such as 09:00')
    .option('--schedule-to <time>', 'end, such as 17:30; before the start, it is on the next day')
    .optionsGroup('Approvals, for require_approval:')
    .option('--timeout <duration>', 'time that an action waits for a decision, such as 15m', parseSeconds)
    .addOption(new Option('--on-timeout <decision>', 'decision after that time').choices(['deny', 'allow']))
    .option('--single-use', 'each approval lets one call run')
    .option('--no-single-use', 'an approval lets every call of the same action run')
    .option('--approvers <number>', 'number of approvers who must approve', parseCount)
    .option('--approver-keys <ids>', 'only these keys may approve; any key that may decide can deny', collect)
    .option('--approver-groups <names>', 'only people of these groups may approve', collect)
    .option('--not-requester', 'the requester of an action cannot approve it')
    .option('--verified-principal', 'nobody can approve unless a token verifies the principal')
    .option(
      '--editable <json>',
      'argument that an approver may change, such as \'{"path":"amount","max":500}\'; can be repeated',
      (text: string, former: readonly object[] = []) => [...former, parseObject(text)],
    );
}

/**
 * Returns the fields that the file and the options set.
 *
 * @throws UsageError when the file cannot be read
 */
async function policyFields(flags: PolicyFieldFlags): Promise<Record<string, unknown>> {
  const given = flags.file === undefined ? {} : await readObject(flags.file);
  const { name, effect, description, mode, priority, condition, message } = flags;
  const { tools, agents, frameworks, environments } = flags;
  const match = definedFields({ tools, agents, frameworks, environments });
  const rate = definedFields({ max: flags.rateMax, windowSeconds: flags.rateWindow, per: flags.ratePer });
  const { timeout: timeoutSeconds, onTimeout, singleUse, approverKeys, approverGroups, notRequester } = flags;
  const approval = definedFields({
    timeoutSeconds,
    onTimeout,
    singleUse,
    requiredApprovers: flags.approvers,
    approverKeys,
    approverGroups,
    notRequester,
    editable: flags.editable,
    verifiedPrincipal: flags.verifiedPrincipal,
  });
  const schedule = definedFields({
    timeZone: flags.scheduleZone,
    days: flags.scheduleDays,
    from: flags.scheduleFrom,
    to: flags.scheduleTo,
  });
  const fields = { name, effect, description, mode, priority, condition, message };
  return {
    ...given,
    ...definedFields(fields),
    ...merged('match', given, match),
    ...merged('rate', given, rate),
    ...merged('approval', given, approval),
    ...merged('schedule', given, schedule),
  };
}

/** End of an approval that names none: the default of the service for a policy without an approval. */
const defaultEnd = { timeoutSeconds: 900, onTimeout: 'deny' };

/**
 * Returns the approval with the defaults of its time limit and what happens then; nothing if both are there already.
 *
 * @param before - approval that the policy has, with which the fields are merged
 */
function completeApproval(
  { approval }: Readonly<Record<string, unknown>>,
  before: object | null | undefined,
): Record<string, unknown> {
  if (typeof approval !== 'object' || approval === null) return {};
  const missing = Object.entries(defaultEnd).filter(([name]) => !(name in { ...before, ...approval }));
  return missing.length === 0 ? {} : { approval: { ...Object.fromEntries(missing), ...approval } };
}

/** Options by the path of the field that they set. */
const flagOfPath: Readonly<Record<string, string>> = {
  'rate.max': '--rate-max',
  'rate.windowSeconds': '--rate-window',
  'rate.per': '--rate-per',
  'approval.timeoutSeconds': '--timeout',
  'approval.onTimeout': '--on-timeout',
  'approval.requiredApprovers': '--approvers',
  'approval.approverKeys': '--approver-keys',
  'approval.approverGroups': '--approver-groups',
  'approval.editable': '--editable',
  'schedule.timeZone': '--schedule-zone',
  'schedule.days': '--schedule-days',
  'schedule.from': '--schedule-from',
  'schedule.to': '--schedule-to',
};

/** Waits for a request, and adds the options to the message of the service about fields. */
async function withFlagNames<Result>(request: PromiseLike<Result>): Promise<Result> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Error) {
      error.message = error.message.replaceAll(/\b(?:rate|approval|schedule)\.[A-Za-z]+\b/g, (path) =>
        flagOfPath[path] === undefined ? path : `${path} (${flagOfPath[path]})`,
      );
    }
    throw error;
  }
}

/** Returns a part of the policy with the fields of the file and the options; nothing if neither has any. */
function merged(
  name: string,
  given: Readonly<Record<string, unknown>>,
  fields: object | undefined,
): Record<string, unknown> {
  return fields === undefined ? {} : { [name]: { ...(given[name] as object | null), ...fields } };
}

/** Collects the values of an option that may be given several times, each with several values separated by commas. */
function collect(text: string, before: readonly string[] = []): string[] {
  return [
    ...before,
    ...text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ];
}
