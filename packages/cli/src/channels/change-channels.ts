import {
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  getWebhook,
  rotateWebhookSecret,
  setWebhookRiskLevel,
  type WebhookState,
} from '@actlog/client/server';
import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { CanceledError } from '../errors/canceled-error.ts';
import { UsageError } from '../errors/usage-error.ts';
import { parseDays } from '../options/numbers.ts';
import { formatOf } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { note } from '../output/print.ts';
import { type Detail, printRecord } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { riskLevels } from '../sessions/session-filter-options.ts';
import { confirm } from '../terminal/confirm.ts';

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

/** @throws UsageError for a text that is no level. */
function parseRiskLevel(text: string): WebhookState['riskLevel'] {
  const level = riskLevels.find((one) => one === text);
  if (level === undefined) throw new UsageError(`The level must be one of: ${riskLevels.join(', ')}.`);
  return level;
}

/** Adds `channels show`, `disable`, `enable`, `risk-level`, `rotate` and `delete`. */
export function addChannelChanges(parent: Command): void {
  const change = (
    name: string,
    description: string,
    run: (client: Awaited<ReturnType<typeof connect>>, id: string) => Promise<WebhookState>,
  ) =>
    clientCommand(parent, {
      usage: `${name} <channel>`,
      description,
      examples: [`actlog channels ${name} ${exampleId}`],
    }).action(async (id: string, flags: ClientFlags) => {
      const webhook = await run(await connect(flags), id);
      await printRecord(webhook, details(webhook), flags);
    });
  change('show', 'show a webhook with the state of its deliveries', getWebhook);
  change('disable', 'disable a webhook; waiting messages fail', disableWebhook);
  change('enable', 'enable a webhook, and reset its failures', enableWebhook);
  clientCommand(parent, {
    usage: 'risk-level <channel> <level>',
    description: 'set the lowest level of risk that a webhook is told about; high for a new one',
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
    description: 'delete a webhook with its delivery log',
    examples: [`actlog channels delete ${exampleId} --yes`],
  })
    .option('--yes', 'delete without a question')
    .action(async (id: string, flags: ClientFlags & { readonly yes?: true }) => {
      const client = await connect(flags);
      const { url } = await getWebhook(client, id);
      if (!(await confirm(`delete the webhook ${printable(url)} with its delivery log`, flags.yes))) {
        throw new CanceledError();
      }
      await deleteWebhook(client, id);
      await printRecord({ id, url, deleted: true }, [['deleted', url]], flags);
    });
}
