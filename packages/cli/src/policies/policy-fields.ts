import { type Command, Option } from 'commander';
import { collect } from '../options/collect.ts';
import { definedFields } from '../options/defined-fields.ts';
import { parseSeconds } from '../options/duration.ts';
import { parseCount, parseWholeNumber } from '../options/numbers.ts';
import { readObject } from '../options/read-json.ts';

/** Options with the fields of a policy. */
export interface PolicyFieldFlags {
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
  readonly notRequester?: boolean;
  readonly scheduleZone?: string;
  readonly scheduleDays?: string[];
  readonly scheduleFrom?: string;
  readonly scheduleTo?: string;
}

/** Adds the options with the fields of a policy. */
export function addPolicyFieldOptions(command: Command): Command {
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
    .option('--not-requester', 'the requester of an action cannot approve it');
}

/**
 * Returns the fields that the file and the options set.
 *
 * @throws UsageError when the file cannot be read
 */
export async function policyFields(flags: PolicyFieldFlags): Promise<Record<string, unknown>> {
  const given = flags.file === undefined ? {} : await readObject(flags.file);
  const { name, effect, description, mode, priority, condition, message } = flags;
  const { tools, agents, frameworks, environments } = flags;
  const match = definedFields({ tools, agents, frameworks, environments });
  const rate = definedFields({ max: flags.rateMax, windowSeconds: flags.rateWindow, per: flags.ratePer });
  const { timeout: timeoutSeconds, onTimeout, singleUse, approverKeys, notRequester } = flags;
  const approval = definedFields({
    timeoutSeconds,
    onTimeout,
    singleUse,
    requiredApprovers: flags.approvers,
    approverKeys,
    notRequester,
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

/** Returns a part of the policy with the fields of the file and those of the options; nothing if neither has any. */
function merged(
  name: string,
  given: Readonly<Record<string, unknown>>,
  fields: object | undefined,
): Record<string, unknown> {
  return fields === undefined ? {} : { [name]: { ...(given[name] as object | null), ...fields } };
}
