import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { KnownBlock, RichTextBlock, RichTextSection } from '@slack/types';
import type * as SlackWebApi from '@slack/web-api';
import type { Agent } from 'undici';
import * as z from 'zod';
import { requestedDelayMs } from '../webhooks/delivery-attempt.ts';
import { connectionReason, fetchTimeoutMs, guardedFetch } from '../webhooks/guarded-fetch.ts';
import {
  type Card,
  type ChannelDriver,
  type ChannelMessage,
  ChannelSettingError,
  type ChannelTarget,
  SendError,
} from './channel.ts';

/** Settings of the operator's Slack app. */
export interface SlackSettings {
  readonly slackBotToken?: string | undefined;
  readonly slackSigningSecret?: string | undefined;
  readonly slackApiUrl: string;
}

/** Ids of the buttons, which tell what one decides. */
export const buttonIds = {
  approve: 'actlog_approve',
  deny: 'actlog_deny',
  /** Opens the form in which a person denies with a reason. */
  denyWithReason: 'actlog_deny_reason',
  open: 'actlog_open',
} as const;

/** Ids of the form in which a person denies with a reason: of itself, its block and its field. */
export const reasonForm = { callback: 'actlog_deny', block: 'reason', field: 'comment' } as const;

/** Maximum length of a reason, in characters, as of a decision's comment. */
export const maxReasonLength = 2000;

/** Schema of the value of a button. */
export const buttonValue = z.object({ channel: z.string(), action: z.string(), token: z.string() });

const channelSettings = z.strictObject({
  channel: z
    .string('must be the id of a Slack channel')
    .regex(/^[CGD][A-Z0-9]{5,20}$/, 'must be the id of a Slack channel, such as C0123456789, not its name'),
});

/** A profile of Slack as far as it identifies a person. */
export interface SlackProfile {
  /** Confirmed email address; `undefined` for none. */
  readonly email: string | undefined;
}

/** Channels of Slack: a card with buttons, which is changed in place when its action is decided anywhere. */
export class SlackChannel implements ChannelDriver {
  readonly kind = 'slack' as const;
  readonly updates = true;
  readonly secretSettings = [] as const;
  readonly #settings: SlackSettings;
  readonly #agent: Agent;
  #client: Promise<SlackWebApi.WebClient> | undefined;

  /** @param agent - connects only to permitted addresses */
  constructor(settings: SlackSettings, agent: Agent) {
    this.#settings = settings;
    this.#agent = agent;
  }

  problem(): string | undefined {
    const { slackBotToken, slackSigningSecret } = this.#settings;
    if (slackBotToken !== undefined && slackSigningSecret !== undefined) return undefined;
    return 'this server has no Slack app; the operator sets ACTLOG_SLACK_BOT_TOKEN and ACTLOG_SLACK_SIGNING_SECRET';
  }

  async check(settings: unknown) {
    const { data, error } = channelSettings.safeParse(settings);
    if (error) throw settingError(error);
    // The workspace of the app, to refuse clicks of people of others.
    const { team_id: team } = await this.#call((client) => client.auth.test()).catch((cause: unknown) => {
      throw new ChannelSettingError('channel', `cannot be checked: ${(cause as Error).message}`);
    });
    if (!team)
      throw new ChannelSettingError('channel', 'cannot be checked: Slack names no workspace of the app');
    return { settings: { ...data, team }, url: this.#settings.slackApiUrl };
  }

  async send(message: ChannelMessage, target: ChannelTarget): Promise<string | null> {
    const { channel } = target.settings as { readonly channel: string };
    const content = contentOf(message, target);
    if (target.changes !== undefined) {
      const { channel: place, ts } = messageOf(target.changes);
      await this.#call((client) => client.chat.update({ channel: place, ts, ...content }));
      return target.changes;
    }
    const thread = target.repliesTo === undefined ? undefined : messageOf(target.repliesTo).ts;
    const posted = await this.#call((client) =>
      client.chat.postMessage({
        channel,
        ...content,
        unfurl_links: false,
        unfurl_media: false,
        ...(thread !== undefined && { thread_ts: thread, reply_broadcast: true }),
      } as SlackWebApi.ChatPostMessageArguments),
    );
    return referenceOf(posted.channel ?? channel, posted.ts ?? '');
  }

  /** Shows a text to one person in a channel. Nobody else sees it. */
  async explain(channel: string, user: string, text: string): Promise<void> {
    await this.#call((client) => client.chat.postEphemeral({ channel, user, text: escaped(text) }));
  }

  /**
   * Opens the form in which a person denies with a reason.
   *
   * @param trigger - Slack's id of the click, which is valid for three seconds
   * @param title - title of the card
   * @param place - what Slack returns with the form
   */
  async openReasonForm(trigger: string, title: string, place: string): Promise<void> {
    const { callback, block, field } = reasonForm;
    await this.#call((client) =>
      client.views.open({
        trigger_id: trigger,
        view: {
          type: 'modal',
          callback_id: callback,
          private_metadata: place,
          title: { type: 'plain_text', text: 'Deny the call' },
          submit: { type: 'plain_text', text: 'Deny' },
          close: { type: 'plain_text', text: 'Cancel' },
          blocks: [
            plain([title]),
            {
              type: 'input',
              block_id: block,
              optional: true,
              label: { type: 'plain_text', text: 'Reason' },
              hint: { type: 'plain_text', text: 'The agent reads it, and everyone who sees the decision.' },
              element: {
                type: 'plain_text_input',
                action_id: field,
                multiline: true,
                max_length: maxReasonLength,
              },
            },
          ],
        },
      }),
    );
  }

  /** Returns the profile of a member of a workspace; `undefined` for one of another, a bot, or one who has left. */
  async profile(user: string, team: string): Promise<SlackProfile | undefined> {
    const { user: member } = await this.#call((client) => client.users.info({ user }));
    if (!member || member.deleted || member.is_bot || member.team_id !== team) return undefined;
    // People of other organizations in a shared channel choose their addresses where this one has no say.
    if ((member as { is_stranger?: boolean }).is_stranger) return undefined;
    const isConfirmed = (member as { is_email_confirmed?: boolean }).is_email_confirmed === true;
    return { email: isConfirmed ? member.profile?.email : undefined };
  }

  /**
   * Checks that a request comes from Slack and is at most five minutes old
   * (https://docs.slack.dev/authentication/verifying-requests-from-slack).
   *
   * @param body - the bytes of the body as they came
   */
  isFromSlack(
    body: Buffer,
    { signature, timestamp }: { readonly signature: string; readonly timestamp: string },
    nowMs: number,
  ): boolean {
    const { slackSigningSecret } = this.#settings;
    if (slackSigningSecret === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(nowMs / 1000 - Number(timestamp)) > maxAgeSeconds) return false;
    const digest = createHmac('sha256', slackSigningSecret)
      .update(`v0:${timestamp}:`)
      .update(body)
      .digest('hex');
    const [given, expected] = [Buffer.from(signature), Buffer.from(`v0=${digest}`)];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  async #call<Result>(work: (client: SlackWebApi.WebClient) => Promise<Result>): Promise<Result> {
    this.#client ??= this.#createClient();
    try {
      return await work(await this.#client);
    } catch (error) {
      throw sendError(error);
    }
  }

  async #createClient(): Promise<SlackWebApi.WebClient> {
    // Loaded here, because most servers never need it.
    const { WebClient } = await import('@slack/web-api');
    const { slackBotToken, slackApiUrl } = this.#settings;
    return new WebClient(slackBotToken, {
      slackApiUrl,
      logger: silent,
      // The outbox repeats, over restarts and for all processes.
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
      timeout: fetchTimeoutMs,
      fetch: (url, init) => guardedFetch(this.#agent, url, init as Parameters<typeof guardedFetch>[2]),
    });
  }
}

/** Time by which a request of Slack may be older or newer than this server's clock, in seconds. */
const maxAgeSeconds = 300;

/** The library writes what it sends to its log. */
const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => 'error' as SlackWebApi.LogLevel,
  setName() {},
};

function settingError({ issues: [issue] }: z.ZodError): ChannelSettingError {
  return new ChannelSettingError(issue?.path.join('.') ?? '', issue?.message ?? 'is not valid');
}

function sendError(error: unknown): SendError {
  if (error instanceof SendError) return error;
  const { code, data, statusCode, headers, retryAfter, original } = error as {
    readonly code?: string;
    readonly data?: { readonly error?: string };
    readonly statusCode?: number;
    readonly headers?: Record<string, string>;
    readonly retryAfter?: number;
    readonly original?: unknown;
  };
  switch (code) {
    case 'slack_webapi_platform_error': {
      // A code such as `channel_not_found`; never the text that comes with it.
      const reason = String(data?.error)
        .replaceAll(/[^a-z_]/g, '')
        .slice(0, 60);
      return new SendError(`Slack refused the message (${reason})`, { status: 200 });
    }
    case 'slack_webapi_rate_limited_error':
      return new SendError('Slack limits the rate of messages', {
        status: 429,
        retryAfterMs: (retryAfter ?? 0) * 1000,
      });
    case 'slack_webapi_http_error':
      return new SendError(`Slack responded with ${statusCode}`, {
        status: statusCode ?? null,
        retryAfterMs: requestedDelayMs(headers?.['retry-after'], Date.now()),
      });
    default:
      return new SendError(connectionReason(original ?? error));
  }
}

/** Returns what identifies a message at Slack. */
export function referenceOf(channel: string, ts: string): string {
  return `${channel}:${ts}`;
}

function messageOf(reference: string): { readonly channel: string; readonly ts: string } {
  const [channel = '', ts = ''] = reference.split(':');
  return { channel, ts };
}

/** Returns a digest of a request's signature, by which a repeat is recognized. */
export function signatureDigest(signature: string): string {
  return hash('sha256', signature);
}

/** Returns text in which Slack finds no mention and no link (https://docs.slack.dev/messaging/formatting-message-text). */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Characters of a card up to which Slack shows all of it. A longer one is decided in the console. */
const maxCardLength = 8000;

/** Characters of a text in one element. */
const maxElementLength = 2900;

interface Content {
  readonly text: string;
  readonly blocks: KnownBlock[];
}

function contentOf(message: ChannelMessage, { id, name }: ChannelTarget): Content {
  switch (message.type) {
    case 'test':
      return {
        text: `actlog can send to this channel (${escaped(name)}).`,
        blocks: [plain([`actlog can send to this channel (${name}).`])],
      };
    case 'alert':
      return {
        text: escaped(message.title),
        blocks: [header(message.title), plain(message.lines), ...openButton(message.url)],
      };
    case 'approval':
      return message.notice === 'reminder' ? reminderOf(message) : cardBlocks(message, id);
  }
}

type Approval = Extract<ChannelMessage, { type: 'approval' }>;

function reminderOf({ card, url }: Approval): Content {
  const expires = card.facts.find(({ label }) => label === 'Expires')?.text ?? '';
  const lines = [`Still waits for a decision: ${card.title}.`, `Expires ${expires}`];
  return { text: escaped(lines.join(' ')), blocks: [plain(lines), ...openButton(url)] };
}

/** Returns the card: every fact as plain text, so that nothing an agent wrote is formatted, linked or mentioned. */
function cardBlocks({ notice, action, card, url, tokens }: Approval, channelId: string): Content {
  const isComplete = lengthOf(card) <= maxCardLength;
  const titles = { held: 'Held', escalated: 'Nobody has decided yet', reminder: 'Held', decided: 'Decided' };
  const title = tokens ? `${titles[notice]}: ${card.title}` : card.title;
  const facts: RichTextSection[] = card.facts.map(({ label, text, url: address }) => ({
    type: 'rich_text_section',
    elements: [
      { type: 'text', text: `${label}: `, style: { bold: true } },
      address ? { type: 'link', url: address, text } : { type: 'text', text: text || '–' },
    ],
  }));
  const shown: KnownBlock[] = isComplete
    ? [argumentsBlock(card), ...changesBlock(card), ...originsBlock(card)]
    : [plain(['The arguments are too long for Slack. Read them in the console, and decide there.'])];
  const value = (token: string) => JSON.stringify({ channel: channelId, action: action.id, token });
  const buttons =
    tokens && isComplete
      ? [
          {
            type: 'button' as const,
            action_id: buttonIds.approve,
            text: { type: 'plain_text' as const, text: 'Approve' },
            style: 'primary' as const,
            value: value(tokens.approve),
          },
          {
            type: 'button' as const,
            action_id: buttonIds.deny,
            text: { type: 'plain_text' as const, text: 'Deny' },
            style: 'danger' as const,
            value: value(tokens.deny),
          },
          {
            type: 'button' as const,
            action_id: buttonIds.denyWithReason,
            text: { type: 'plain_text' as const, text: 'Deny…' },
            value: value(tokens.deny),
          },
        ]
      : [];
  const open = openButton(url);
  const actions: KnownBlock[] =
    buttons.length === 0
      ? open
      : [{ type: 'actions', elements: [...buttons, ...open.flatMap(({ elements }) => elements)] }];
  return {
    text: escaped(`${title}. ${card.state}`),
    blocks: [
      header(title),
      plain([card.state]),
      { type: 'rich_text', elements: facts },
      ...shown,
      ...actions,
    ],
  };
}

function lengthOf({ facts, argumentsText = '', changes, origins }: Card): number {
  return [...facts.map(({ text }) => text), argumentsText, ...changes, ...origins].reduce(
    (sum, { length }) => sum + length,
    0,
  );
}

function header(text: string): KnownBlock {
  return { type: 'header', text: { type: 'plain_text', text: text.slice(0, 150), emoji: false } };
}

function plain(lines: readonly string[]): RichTextBlock {
  const text = lines.join('\n') || '–';
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
  };
}

function argumentsBlock({ argumentsText }: Card): KnownBlock {
  if (argumentsText === undefined) return plain(['The agent shows no arguments, only their hash.']);
  const parts: string[] = [];
  for (let at = 0; at < argumentsText.length; at += maxElementLength) {
    parts.push(argumentsText.slice(at, at + maxElementLength));
  }
  return {
    type: 'rich_text',
    elements: parts.map((text) => ({ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] })),
  };
}

/** Returns what an approver changed, which a decision is then about. */
function changesBlock({ changes }: Card): KnownBlock[] {
  return changes.length === 0 ? [] : [plain(['An approver changed these arguments:', ...changes])];
}

function originsBlock({ origins }: Card): KnownBlock[] {
  return origins.length === 0 ? [] : [plain(['Where the arguments came from', ...origins])];
}

function openButton(url: string | undefined) {
  if (url === undefined) return [];
  const open = {
    type: 'button' as const,
    action_id: buttonIds.open,
    text: { type: 'plain_text' as const, text: 'Open in the console' },
    url,
  };
  return [{ type: 'actions' as const, elements: [open] }];
}
