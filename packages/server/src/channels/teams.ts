import type { Agent } from 'undici';
import * as z from 'zod';
import { isLoopbackHost } from '../lib/is-loopback-host.ts';
import { type AddressGuard, ForbiddenAddressError, ForbiddenPortError } from '../webhooks/address-guard.ts';
import { requestedDelayMs } from '../webhooks/delivery-attempt.ts';
import { connectionReason, type FetchedResponse, guardedFetch } from '../webhooks/guarded-fetch.ts';
import {
  type ChannelDriver,
  type ChannelMessage,
  ChannelSettingError,
  type ChannelTarget,
  SendError,
} from './channel.ts';

const channelSettings = z.strictObject({
  url: z.url('must be the address of a workflow, such as https://….logic.azure.com/workflows/…').max(2000),
});

/**
 * Channels of Microsoft Teams: an Adaptive Card, sent to the address of a workflow that posts it. The card links to the
 * console, where people sign in and decide. Anyone with the address can post, so it is stored encrypted.
 */
export class TeamsChannel implements ChannelDriver {
  readonly kind = 'teams' as const;
  readonly updates = false;
  readonly secretSettings = ['url'] as const;
  readonly #publicUrl: string | undefined;
  readonly #guard: AddressGuard;
  readonly #agent: Agent;

  /** @param agent - connects only to addresses that `guard` permits */
  constructor(publicUrl: string | undefined, guard: AddressGuard, agent: Agent) {
    this.#publicUrl = publicUrl;
    this.#guard = guard;
    this.#agent = agent;
  }

  problem(): string | undefined {
    return this.#publicUrl === undefined
      ? 'cards link to the console; the operator sets ACTLOG_PUBLIC_URL'
      : undefined;
  }

  async check(settings: unknown) {
    const { data, error } = channelSettings.safeParse(settings);
    if (error) throw new ChannelSettingError('url', error.issues[0]?.message ?? 'is not valid');
    const url = await inspectedUrl(this.#guard, 'url', data.url);
    return { settings: { url: url.href }, url: url.origin };
  }

  async send(message: ChannelMessage, { settings }: ChannelTarget): Promise<null> {
    const { url } = settings as { readonly url: string };
    const body = JSON.stringify({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: adaptiveCard(message),
        },
      ],
    });
    let response: FetchedResponse;
    try {
      response = await guardedFetch(this.#agent, url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    } catch (error) {
      throw new SendError(connectionReason(error));
    }
    if (!response.ok) throw refused('Teams', response);
    return null;
  }
}

/** Returns the error for a response that is no success. */
export function refused(name: string, { status, headers }: FetchedResponse): SendError {
  const retryAfterMs = requestedDelayMs(headers.get('retry-after') ?? undefined, Date.now());
  return new SendError(`${name} responded with ${status}`, { status, retryAfterMs });
}

/**
 * Checks an address that a person gives before it is stored.
 *
 * @throws ChannelSettingError for one that is not https, or that webhooks must not reach either
 */
export async function inspectedUrl(guard: AddressGuard, setting: string, address: string): Promise<URL> {
  const url = URL.parse(address);
  if (!url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))) {
    throw new ChannelSettingError(setting, 'must be an https address');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ChannelSettingError(setting, 'must not contain a user name or password');
  }
  try {
    await guard.inspect(url);
  } catch (error) {
    if (!(error instanceof ForbiddenAddressError || error instanceof ForbiddenPortError)) throw error;
    throw new ChannelSettingError(setting, error.message);
  }
  return url;
}

/** A part of a card. */
type Element = Readonly<Record<string, unknown>>;

/** Returns text of a card. Runs of text are not Markdown, so nothing that an agent wrote is formatted or linked. */
function textOf(runs: readonly Element[], spacing = 'Small'): Element {
  return { type: 'RichTextBlock', spacing, inlines: runs.map((run) => ({ type: 'TextRun', ...run })) };
}

/** Returns a message as an Adaptive Card (https://adaptivecards.io/explorer/). */
export function adaptiveCard(message: ChannelMessage): Element {
  const { title, body, url } = partsOf(message);
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [textOf([{ text: title, size: 'Large', weight: 'Bolder' }]), ...body],
    actions: url === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'Open in the console', url }],
  };
}

const notices = {
  held: 'Held',
  escalated: 'Nobody has decided yet',
  reminder: 'Expires soon',
  decided: 'Decided',
} as const;

function partsOf(message: ChannelMessage): {
  readonly title: string;
  readonly body: readonly Element[];
  readonly url: string | undefined;
} {
  switch (message.type) {
    case 'test':
      return {
        title: 'actlog can send to this channel',
        body: [textOf([{ text: message.channelName || '–' }])],
        url: message.url,
      };
    case 'alert':
      return {
        title: message.title,
        body: message.lines.map((text) => textOf([{ text: text || '–' }])),
        url: message.url,
      };
    case 'approval': {
      const { card, notice, url } = message;
      const facts = card.facts.map(({ label, text, url: address }) =>
        textOf([{ text: `${label}: `, weight: 'Bolder' }, { text: address ?? (text || '–') }]),
      );
      return {
        title: `${notices[notice]}: ${card.title}`,
        body: [textOf([{ text: card.state }]), ...facts],
        url,
      };
    }
  }
}
