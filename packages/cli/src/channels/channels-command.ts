import {
  type Actlog,
  NotFoundError,
  type NotificationChannel,
  type NotificationChannelCreate,
  type WebhookEventType,
} from '@actlog/client';
import {
  type Channel,
  type ChannelDelivery,
  deleteWebhook,
  disableChannel,
  disableWebhook,
  enableChannel,
  enableWebhook,
  getChannel,
  getWebhook,
  listChannelDeliveries,
  listChannels,
  listDeliveries,
  resendDelivery,
  rotateWebhookSecret,
  setWebhookRiskLevel,
  testWebhook,
  type WebhookDelivery,
  type WebhookState,
} from '@actlog/client/server';
import { Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { CanceledError, UsageError } from '../errors/usage-error.ts';
import { addLimitOption, type LimitFlags, pageSizeFor, parseDays } from '../options/numbers.ts';
import { formatOf } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { note } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { type Detail, printRecord } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import type { Column } from '../output/table.ts';
import { riskLevels } from '../sessions/session-columns.ts';
import { confirm } from '../terminal/confirm.ts';
import {
  addPeopleChannels,
  deletePeopleChannel,
  isPeopleChannel,
  printChannel,
  testPeopleChannel,
} from './people-channels.ts';

const eventTypes: readonly WebhookEventType[] = [
  'guardian.action_pending',
  'guardian.action_decided',
  'policy.matched',
  'session.risk_raised',
];

const columns: readonly Column<ListedChannel>[] = [
  { title: 'CHANNEL', value: ({ id }) => id, minWidth: 36 },
  { title: 'KIND', value: ({ kind }) => String(kind ?? 'webhook') },
  {
    title: 'STATUS',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'disabled' ? 'red' : 'green'),
  },
  {
    title: 'NAME',
    value: (listed) => ('name' in listed ? String(listed.name) : listed.url),
    style: () => 'bold',
    minWidth: 16,
  },
  { title: 'FAILURES', value: ({ failureCount }) => failureCount, align: 'right' },
  { title: 'LAST DELIVERY', value: ({ lastDeliveryAt }) => localTime(lastDeliveryAt) },
  { title: 'EVENTS', value: eventsOf },
];

type ListedChannel = NotificationChannel | Channel;

function eventsOf(listed: ListedChannel): string | undefined {
  const events =
    'rules' in listed ? (listed as Channel).rules.events : (listed as NotificationChannel).events;
  return events?.join(', ');
}

/** Yields the webhooks, and the other channels of a service that has them. */
async function* allChannels(client: Actlog, limit: number | undefined): AsyncGenerator<ListedChannel> {
  yield* client.notificationChannels.list({ limit });
  try {
    yield* (await listChannels(client)).items;
  } catch (error) {
    // Another service than the actlog server has webhooks only.
    if (!(error instanceof NotFoundError)) throw error;
  }
}

/** Creates the command `channels`. */
export function channelsCommand(): Command {
  const channels = new Command('channels').description(
    'Manages channels: Slack, mail, Teams and web push for people, webhooks for programs, and their deliveries. `actlog webhooks` manages webhooks in the database, without a server.',
  );
  const list = clientCommand(channels, {
    usage: 'list',
    description: 'list webhooks, newest first, and the channels for people',
    examples: ['actlog channels list'],
  });
  addLimitOption(list, 'channels').action(async (flags: ClientFlags & LimitFlags) => {
    const client = await connect(flags);
    const items = allChannels(client, pageSizeFor(flags.limit));
    await printList(items, { columns, flags, noun: 'channels' });
  });
  addPeopleChannels(channels);
  addCreate(channels);
  addChannelChanges(channels);
  addChannelDeliveries(channels);
  return channels;
}

function addCreate(parent: Command): void {
  clientCommand(parent, {
    usage: 'create <url>',
    description: 'create a webhook; its signing secret is shown only once',
    examples: ['actlog channels create https://example.com/actlog --events guardian.action_pending'],
  })
    .addOption(
      new Option('--events <types...>', 'types of event to deliver; all by default').choices(eventTypes),
    )
    .action(async (url: string, flags: ClientFlags & { readonly events?: WebhookEventType[] }) => {
      const client = await connect(flags);
      const body: NotificationChannelCreate = { url, ...(flags.events && { events: flags.events }) };
      const channel = await client.notificationChannels.create(body);
      await printRecord(
        channel,
        [
          ['channel', channel.id, 'bold'],
          ['url', channel.url],
          ['events', channel.events?.join(', ')],
          ['secret', channel.secret],
        ],
        flags,
      );
      if (formatOf(flags) === 'table') note('\nStore the secret now: it is not shown again.');
    });
}

const exampleId = 'nch_0198c1d2e3f47a5b8c6d7e8f90a1b2c3';

function details(webhook: WebhookState): Detail[] {
  const { status, failingSince } = webhook;
  const state = status === 'active' && failingSince !== null ? 'failing' : status;
  return [
    ['channel', webhook.id, 'bold'],
    ['status', state, state === 'active' ? 'green' : 'red'],
    ['url', webhook.url],
    ['events', webhook.events.join(', ')],
    ['risk from', webhook.riskLevel],
    ['waiting', `${webhook.waiting}, ${webhook.retrying} of them failed before`],
    ['failures', `${webhook.failureCount} since the last success`],
    ['failing since', localTime(failingSince)],
    ['last delivery', localTime(webhook.lastDeliveryAt)],
    ['created', localTime(webhook.createdAt)],
    ['old secret valid until', localTime(webhook.previousSecretUntil)],
  ];
}

/** @throws UsageError when the text is not a level */
function parseRiskLevel(text: string): WebhookState['riskLevel'] {
  const level = riskLevels.find((one) => one === text);
  if (level === undefined) throw new UsageError(`The level must be one of: ${riskLevels.join(', ')}.`);
  return level;
}

/** Adds `channels show`, `disable`, `enable`, `risk-level`, `rotate` and `delete`. */
function addChannelChanges(parent: Command): void {
  const change = (
    name: string,
    description: string,
    run: (client: Actlog, id: string) => Promise<WebhookState>,
    runOther: (client: Actlog, id: string) => Promise<Channel>,
  ) =>
    clientCommand(parent, {
      usage: `${name} <channel>`,
      description,
      examples: [`actlog channels ${name} ${exampleId}`],
    }).action(async (id: string, flags: ClientFlags) => {
      const client = await connect(flags);
      if (isPeopleChannel(id)) return printChannel(await runOther(client, id), flags);
      const webhook = await run(client, id);
      await printRecord(webhook, details(webhook), flags);
    });
  change('show', 'show a channel with the state of its deliveries', getWebhook, getChannel);
  change('disable', 'disable a channel; waiting messages fail', disableWebhook, disableChannel);
  change('enable', 'enable a channel, and reset its failures', enableWebhook, enableChannel);
  clientCommand(parent, {
    usage: 'risk-level <channel> <level>',
    description: 'set the lowest level of risk that a webhook is notified of; high for a new one',
    examples: [`actlog channels risk-level ${exampleId} critical`],
  }).action(async (id: string, level: string, flags: ClientFlags) => {
    const webhook = await setWebhookRiskLevel(await connect(flags), id, parseRiskLevel(level));
    await printRecord(webhook, details(webhook), flags);
  });
  clientCommand(parent, {
    usage: 'rotate <channel>',
    description: 'replace the signing secret of a webhook; the new one is shown only once',
    examples: [[`actlog channels rotate ${exampleId} --overlap-days 7`, 'sign with both for a week']],
  })
    .option(
      '--overlap-days <days>',
      'days for which messages are also signed with the old one, 0 to 7; 1 by default',
      parseDays,
    )
    .action(async (id: string, flags: ClientFlags & { readonly overlapDays?: number }) => {
      const client = await connect(flags);
      const rotated = await rotateWebhookSecret(client, id, { overlapDays: flags.overlapDays });
      await printRecord(rotated, [...details(rotated), ['secret', rotated.secret]], flags);
      if (formatOf(flags) === 'table') note('\nStore the secret now: it is not shown again.');
    });
  clientCommand(parent, {
    usage: 'delete <channel>',
    description: 'delete a channel with its delivery log',
    examples: [`actlog channels delete ${exampleId} --yes`],
  })
    .option('--yes', 'delete without a question')
    .action(async (id: string, flags: ClientFlags & { readonly yes?: true }) => {
      const client = await connect(flags);
      if (isPeopleChannel(id)) return deletePeopleChannel(client, id, flags);
      const { url } = await getWebhook(client, id);
      if (!(await confirm(`delete the webhook ${printable(url)} with its delivery log`, flags.yes))) {
        throw new CanceledError();
      }
      await deleteWebhook(client, id);
      await printRecord({ id, url, deleted: true }, [['deleted', url]], flags);
    });
}

interface Flags extends ClientFlags, LimitFlags {
  readonly status?: WebhookDelivery['status'];
}

const statusStyles = { delivered: 'green', failed: 'red', waiting: 'yellow' } as const;

/** Returns the outcome of the last attempt in words. */
function outcome({ error, responseStatus, status }: Delivery): string {
  if (error !== null) return error;
  if (responseStatus !== null) return `responded with ${responseStatus}`;
  return status === 'delivered' ? 'accepted' : 'not attempted yet';
}

type Delivery = WebhookDelivery | ChannelDelivery;

const deliveryColumns: readonly Column<Delivery>[] = [
  { title: 'DELIVERY', value: ({ id }) => id, minWidth: 36 },
  { title: 'STATUS', value: ({ status }) => status, style: ({ status }) => statusStyles[status] },
  { title: 'EVENT', value: ({ eventType }) => eventType, style: () => 'bold', minWidth: 12 },
  { title: 'ATTEMPTS', value: ({ attempts }) => attempts, align: 'right' },
  { title: 'LAST ATTEMPT', value: outcome, minWidth: 16 },
  { title: 'MS', value: ({ durationMs }) => durationMs, align: 'right' },
  { title: 'CREATED', value: ({ createdAt }) => localTime(createdAt) },
  { title: 'NEXT ATTEMPT', value: ({ nextAttemptAt }) => localTime(nextAttemptAt) },
];

function print(delivery: WebhookDelivery, flags: ClientFlags): Promise<void> {
  return printRecord(
    delivery,
    [
      ['delivery', delivery.id, 'bold'],
      ['channel', delivery.webhookId],
      ['event', delivery.eventType],
      ['status', delivery.status, statusStyles[delivery.status]],
    ],
    flags,
  );
}

/** Adds `channels deliveries`, `test` and `resend`. */
function addChannelDeliveries(parent: Command): void {
  const list = clientCommand(parent, {
    usage: 'deliveries <channel>',
    description: 'list the messages to a channel, newest first',
    examples: [
      [
        'actlog channels deliveries nch_0198c1d2e3f47a5b8c6d7e8f90a1b2c3 --status failed',
        'what was not delivered, and why',
      ],
    ],
  }).addOption(
    new Option('--status <status>', 'only deliveries in this state').choices([
      'waiting',
      'delivered',
      'failed',
    ]),
  );
  addLimitOption(list, 'deliveries').action(async (id: string, flags: Flags) => {
    const client = await connect(flags);
    const filters = { status: flags.status, limit: pageSizeFor(flags.limit) };
    const items: AsyncIterable<Delivery> = isPeopleChannel(id)
      ? listChannelDeliveries(client, id, filters)
      : listDeliveries(client, id, filters);
    await printList(items, {
      columns: deliveryColumns,
      flags,
      noun: 'deliveries',
    });
  });
  clientCommand(parent, {
    usage: 'test <channel>',
    description: 'send a test message to a channel',
    examples: ['actlog channels test nch_0198c1d2e3f47a5b8c6d7e8f90a1b2c3'],
  }).action(async (id: string, flags: ClientFlags) => {
    const client = await connect(flags);
    if (isPeopleChannel(id)) return testPeopleChannel(client, id, flags);
    await print(await testWebhook(client, id), flags);
  });
  clientCommand(parent, {
    usage: 'resend <delivery>',
    description: 'send a message again',
    examples: ['actlog channels resend dlv_0198c1d2e3f47a5b8c6d7e8f90a1b2c3'],
  }).action(async (id: string, flags: ClientFlags) =>
    print(await resendDelivery(await connect(flags), id), flags),
  );
}
