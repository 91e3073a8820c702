import { readFileSync } from 'node:fs';
import type { Actlog } from '@actlog/client';
import {
  type AlertRule,
  type AlertRuleDefinition,
  type Channel,
  type ChannelEvent,
  type ChannelKind,
  type ChannelRules,
  createAlertRule,
  createChannel,
  deleteAlertRule,
  deleteChannel,
  getChannel,
  listAlertRules,
  muteAlertRule,
  muteChannel,
  type NewChannel,
  setChannelRules,
  testChannel,
} from '@actlog/client/server';
import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { CanceledError, UsageError } from '../errors/usage-error.ts';
import { parseDuration } from '../options/duration.ts';
import { localTime } from '../output/local-time.ts';
import { printList } from '../output/print-list.ts';
import { type Detail, printRecord } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { confirm } from '../terminal/confirm.ts';

const exampleId = 'chn_0198c1d2e3f47a5b8c6d7e8f90a1b2c3';

/** `true` for the id of a channel for people, which is no webhook. */
export function isPeopleChannel(id: string): boolean {
  return id.startsWith('chn_');
}

function details(channel: Channel): Detail[] {
  const { rules, settings } = channel;
  const quiet = rules.quietHours;
  const state = channel.status === 'active' && channel.failingSince !== null ? 'failing' : channel.status;
  return [
    ['channel', channel.id, 'bold'],
    ['kind', channel.kind],
    ['name', channel.name],
    ['status', state, state === 'active' ? 'green' : 'red'],
    ...Object.entries(settings).map(
      ([name, value]): Detail => [name, Array.isArray(value) ? value.join(', ') : String(value)],
    ),
    ['events', rules.events.join(', ')],
    ['agents', rules.agents.join(', ')],
    ['tools', rules.tools.join(', ')],
    ['policies', rules.policies.join(', ')],
    ['groups', rules.groups.join(', ')],
    ['after', rules.afterMinutes === 0 ? 'at once' : `${rules.afterMinutes} minutes without a decision`],
    ['reminder', rules.remindMinutes === null ? 'none' : `${rules.remindMinutes} minutes before the expiry`],
    ['quiet hours', quiet === null ? 'none' : `${quiet.from} to ${quiet.to} ${quiet.timeZone}`],
    ['muted until', localTime(channel.mutedUntil)],
    ['failures', `${channel.failureCount} since the last success`],
    ['last error', channel.lastError],
    ['last delivery', localTime(channel.lastDeliveryAt)],
    ['created', localTime(channel.createdAt)],
  ];
}

/** Prints a channel for people. */
export function printChannel(channel: Channel, flags: ClientFlags): Promise<void> {
  return printRecord(channel, details(channel), flags);
}

/** Sends a test message to a channel for people, and prints what was queued. */
export async function testPeopleChannel(client: Actlog, id: string, flags: ClientFlags): Promise<void> {
  const { items } = await testChannel(client, id);
  const ids = items.map((delivery) => delivery.id);
  await printRecord(
    { items },
    [
      ['queued', ids.join(', '), 'bold'],
      ['channel', id],
    ],
    flags,
  );
}

/** Deletes a channel for people after a confirmation. */
export async function deletePeopleChannel(
  client: Actlog,
  id: string,
  flags: ClientFlags & { readonly yes?: true },
): Promise<void> {
  const { name, kind } = await getChannel(client, id);
  if (!(await confirm(`delete the ${kind} channel ${printable(name)} with its delivery log`, flags.yes))) {
    throw new CanceledError();
  }
  await deleteChannel(client, id);
  await printRecord({ id, name, deleted: true }, [['deleted', name]], flags);
}

interface RuleFlags {
  readonly on?: ChannelEvent[];
  readonly agents?: string[];
  readonly tools?: string[];
  readonly policies?: string[];
  readonly groups?: string[];
  readonly after?: string;
  readonly remind?: string;
  readonly quiet?: string;
  readonly quietHolds?: true;
}

function addRuleOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--on <events...>', 'what it receives: held and alert by default').choices([
        'held',
        'decided',
        'alert',
      ]),
    )
    .option('--agents <patterns...>', 'only about these agents, such as billing*')
    .option('--tools <patterns...>', 'only about these tools')
    .option('--policies <patterns...>', 'only held by these policies')
    .option('--groups <names...>', 'groups whose people it reaches, for policies with approverGroups')
    .option('--after <duration>', 'send a held action only after this time without a decision, such as 10m')
    .option('--remind <duration>', 'remind once, this long before the expiry, or "never"; 5m by default')
    .option('--quiet <hours>', 'quiet hours, such as "22:00-07:00 Europe/Berlin": alerts wait for their end')
    .option('--quiet-holds', 'held actions wait for the end of quiet hours, too');
}

function minutesOf(duration: string): number {
  return parseDuration(duration) / 60_000;
}

/** @throws UsageError when the text is no time span with a time zone. */
function quietHoursOf(text: string, delaysHeldActions: boolean): ChannelRules['quietHours'] {
  const [, from = '', to = '', timeZone = ''] = /^(\S+)-(\d\d:\d\d) (\S+)$/.exec(text) ?? [];
  if (from === '') throw new UsageError('Quiet hours must be like "22:00-07:00 Europe/Berlin".');
  return { from, to, timeZone, delaysHeldActions };
}

function rulesOf(flags: RuleFlags): Partial<ChannelRules> {
  return {
    ...(flags.on && { events: flags.on }),
    ...(flags.agents && { agents: flags.agents }),
    ...(flags.tools && { tools: flags.tools }),
    ...(flags.policies && { policies: flags.policies }),
    ...(flags.groups && { groups: flags.groups }),
    ...(flags.after !== undefined && { afterMinutes: minutesOf(flags.after) }),
    ...(flags.remind !== undefined && {
      remindMinutes: flags.remind === 'never' ? null : minutesOf(flags.remind),
    }),
    ...(flags.quiet !== undefined && { quietHours: quietHoursOf(flags.quiet, flags.quietHolds === true) }),
  };
}

interface AddFlags extends ClientFlags, RuleFlags {
  readonly channel?: string;
  readonly to?: string[];
  readonly urlFile?: string;
}

/** Returns the settings of a kind. @throws UsageError when one is missing. */
function settingsOf(kind: ChannelKind, { channel, to, urlFile }: AddFlags): NewChannel['settings'] {
  const required = (option: string): never => {
    throw new UsageError(`A channel of the kind ${kind} needs ${option}.`);
  };
  switch (kind) {
    case 'slack':
      return { channel: channel ?? required('--channel, such as --channel C0123456789') };
    case 'mail':
      return { to: to ?? required('--to, such as --to oncall@example.com') };
    case 'teams':
      // Not as an argument, which shows in the process list: whoever has the address can post.
      return {
        url: readFileSync(
          urlFile ?? required('--url-file, a file with the address of the workflow'),
          'utf8',
        ).trim(),
      };
    case 'push':
      return {};
  }
}

/** Adds `channels add`, `rules`, `mute`, `unmute`, and the commands of alerts. */
export function addPeopleChannels(parent: Command): void {
  addRuleOptions(
    clientCommand(parent, {
      usage: 'add <kind> <name>',
      description: 'add a channel for people: slack, mail, teams or push',
      examples: [
        ['actlog channels add slack "On call" --channel C0123456789', 'cards with buttons, in Slack'],
        'actlog channels add mail Leads --to lead@example.com --after 10m --groups leads',
      ],
    })
      .option('--channel <id>', 'id of the Slack channel, such as C0123456789')
      .option('--to <addresses...>', 'email addresses')
      .option('--url-file <file>', 'file with the address of the Teams workflow'),
  ).action(async (kind: string, name: string, flags: AddFlags) => {
    const known = (['slack', 'mail', 'teams', 'push'] as const).find((one) => one === kind);
    if (known === undefined) throw new UsageError('The kind must be one of: slack, mail, teams, push.');
    const settings = settingsOf(known, flags);
    const client = await connect(flags);
    const channel = await createChannel(client, {
      kind: known,
      name,
      ...(settings && { settings }),
      rules: rulesOf(flags),
    });
    await printChannel(channel, flags);
  });
  addRuleOptions(
    clientCommand(parent, {
      usage: 'rules <channel>',
      description: 'replace the rules of a channel for people; omitted ones get their defaults',
      examples: [`actlog channels rules ${exampleId} --tools "refund*" --remind never`],
    }),
  ).action(async (id: string, flags: ClientFlags & RuleFlags) => {
    const rules = rulesOf(flags);
    await printChannel(await setChannelRules(await connect(flags), id, rules), flags);
  });
  clientCommand(parent, {
    usage: 'mute <channel>',
    description: 'send nothing to a channel for people, for some time',
    examples: [`actlog channels mute ${exampleId} --for 2h`],
  })
    .option('--for <duration>', 'how long, such as 30m or 2h', '1h')
    .action(async (id: string, flags: ClientFlags & { readonly for: string }) => {
      const minutes = minutesOf(flags.for);
      await printChannel(await muteChannel(await connect(flags), id, minutes), flags);
    });
  clientCommand(parent, {
    usage: 'unmute <channel>',
    description: 'send to a muted channel again',
    examples: [`actlog channels unmute ${exampleId}`],
  }).action(async (id: string, flags: ClientFlags) => {
    await printChannel(await muteChannel(await connect(flags), id, null), flags);
  });
  addAlerts(parent);
}

function printRule(rule: AlertRule, flags: ClientFlags): Promise<void> {
  return printRecord(
    rule,
    [
      ['rule', rule.id, 'bold'],
      ['name', rule.name],
      ['kind', rule.kind],
      ['level', rule.kind === 'risk' ? rule.level : undefined],
      ['agents', rule.agents.join(', ')],
      ['tools', rule.tools.join(', ')],
      ['count', `${rule.count} within ${rule.windowMinutes} minutes`],
      ['channels', rule.channels.length === 0 ? 'all that receive alerts' : rule.channels.join(', ')],
      ['muted until', localTime(rule.mutedUntil)],
    ],
    flags,
  );
}

interface AlertFlags extends ClientFlags {
  readonly level?: AlertRuleDefinition['level'];
  readonly agents?: string[];
  readonly tools?: string[];
  readonly count?: string;
  readonly within?: string;
  readonly channels?: string[];
}

const ruleExample = 'alr_0198c1d2e3f47a5b8c6d7e8f90a1b2c3';

function addAlerts(parent: Command): void {
  clientCommand(parent, {
    usage: 'alerts',
    description: 'list the rules of alerts',
    examples: ['actlog channels alerts'],
  }).action(async (flags: ClientFlags) => {
    const { items } = await listAlertRules(await connect(flags));
    await printList(items, {
      columns: [
        { title: 'RULE', value: ({ id }) => id, minWidth: 36 },
        { title: 'NAME', value: ({ name }) => name, style: () => 'bold' },
        { title: 'KIND', value: ({ kind, level }) => (kind === 'risk' ? `risk from ${level}` : kind) },
        { title: 'COUNT', value: ({ count, windowMinutes }) => `${count} in ${windowMinutes}m` },
        { title: 'MUTED UNTIL', value: ({ mutedUntil }) => localTime(mutedUntil) },
      ],
      flags: { ...flags, limit: Number.POSITIVE_INFINITY },
      noun: 'rules of alerts',
    });
  });
  clientCommand(parent, {
    usage: 'alert <kind> <name>',
    description: 'add a rule of alerts: risk, denied, error or new_tool',
    examples: [
      [
        'actlog channels alert denied "Many denials" --count 5 --within 10m',
        'five denied calls in ten minutes',
      ],
      'actlog channels alert risk "Risky session" --level high',
    ],
  })
    .addOption(
      new Option('--level <level>', 'lowest level of risk; high by default').choices([
        'low',
        'medium',
        'high',
        'critical',
      ]),
    )
    .option('--agents <patterns...>', 'only about these agents')
    .option('--tools <patterns...>', 'only about these tools')
    .option('--count <number>', 'number of calls from which it alerts; 1 by default')
    .option('--within <duration>', 'window in which they are counted; 1h by default')
    .option('--channels <ids...>', 'channels that are told; all that receive alerts by default')
    .action(async (kind: string, name: string, flags: AlertFlags) => {
      const known = (['risk', 'denied', 'error', 'new_tool'] as const).find((one) => one === kind);
      if (known === undefined)
        throw new UsageError('The kind must be one of: risk, denied, error, new_tool.');
      const rule = await createAlertRule(await connect(flags), {
        name,
        kind: known,
        ...(flags.level && { level: flags.level }),
        ...(flags.agents && { agents: flags.agents }),
        ...(flags.tools && { tools: flags.tools }),
        ...(flags.count !== undefined && { count: Number(flags.count) }),
        ...(flags.within !== undefined && { windowMinutes: minutesOf(flags.within) }),
        ...(flags.channels && { channels: flags.channels }),
      });
      await printRule(rule, flags);
    });
  clientCommand(parent, {
    usage: 'mute-alert <rule>',
    description: 'send nothing of a rule of alerts, for some time; 0m ends that',
    examples: [`actlog channels mute-alert ${ruleExample} --for 2h`],
  })
    .option('--for <duration>', 'how long, such as 30m or 2h', '1h')
    .action(async (id: string, flags: ClientFlags & { readonly for: string }) => {
      const minutes = flags.for === '0m' ? null : minutesOf(flags.for);
      await printRule(await muteAlertRule(await connect(flags), id, minutes), flags);
    });
  clientCommand(parent, {
    usage: 'delete-alert <rule>',
    description: 'delete a rule of alerts',
    examples: [`actlog channels delete-alert ${ruleExample}`],
  }).action(async (id: string, flags: ClientFlags) => {
    await deleteAlertRule(await connect(flags), id);
    await printRecord({ id, deleted: true }, [['deleted', id]], flags);
  });
}
