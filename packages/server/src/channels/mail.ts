import type * as Nodemailer from 'nodemailer';
import * as z from 'zod';
import { isLoopbackHost } from '../lib/is-loopback-host.ts';
import {
  type ChannelDriver,
  type ChannelMessage,
  ChannelSettingError,
  type ChannelTarget,
  SendError,
} from './channel.ts';

/** Settings of the operator's mail server. */
export interface MailSettings {
  readonly smtpUrl?: string | undefined;
  readonly mailFrom?: string | undefined;
  readonly publicUrl?: string | undefined;
}

/** Time limits of a connection to the mail server, in milliseconds. */
const connectTimeoutMs = 10_000;
const idleTimeoutMs = 20_000;

const channelSettings = z.strictObject({
  to: z
    .array(
      z.email('must be an email address, such as oncall@example.com'),
      'must be a list of email addresses',
    )
    .min(1, 'must have an address')
    .max(50),
});

/**
 * Channels of mail. A mail links to the console, where people sign in and decide: scanners of mail servers open every
 * link. It has no arguments, because mails lie in many places.
 */
export class MailChannel implements ChannelDriver {
  readonly kind = 'mail' as const;
  readonly updates = false;
  readonly secretSettings = [] as const;
  readonly #settings: MailSettings;
  #transport: Promise<Nodemailer.Transporter> | undefined;

  constructor(settings: MailSettings) {
    this.#settings = settings;
  }

  problem(): string | undefined {
    const { smtpUrl, mailFrom, publicUrl } = this.#settings;
    if (smtpUrl === undefined || mailFrom === undefined) {
      return 'this server sends no mail; the operator sets ACTLOG_SMTP_URL and ACTLOG_MAIL_FROM';
    }
    if (publicUrl === undefined) return 'mails link to the console; the operator sets ACTLOG_PUBLIC_URL';
    return undefined;
  }

  async check(settings: unknown) {
    const { data, error } = channelSettings.safeParse(settings);
    if (error) {
      const [issue] = error.issues;
      throw new ChannelSettingError(issue?.path.join('.') ?? '', issue?.message ?? 'is not valid');
    }
    const to = [...new Set(data.to.map((address) => address.toLowerCase()))];
    // Only the host: the address of the mail server may have a password.
    return { settings: { to }, url: `smtp://${new URL(this.#settings.smtpUrl ?? '').host}` };
  }

  async send(message: ChannelMessage, { deliveryId, recipient }: ChannelTarget): Promise<null> {
    const { subject, lines, url } = contentOf(message);
    const link = url === undefined ? [] : ['', `Open it in the console: ${url}`];
    this.#transport ??= this.#createTransport();
    try {
      const transport = await this.#transport;
      await transport.sendMail({
        from: this.#settings.mailFrom,
        to: recipient ?? undefined,
        subject,
        text: [...lines, ...link, ''].join('\n'),
        html: htmlOf(lines, url),
        // The same in each attempt, by which mailboxes drop a repeat.
        messageId: `<${deliveryId}@${new URL(this.#settings.publicUrl ?? 'http://actlog').hostname}>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      return null;
    } catch (error) {
      throw sendError(error);
    }
  }

  async #createTransport(): Promise<Nodemailer.Transporter> {
    // Loaded here, because most servers never need it.
    const { createTransport } = await import('nodemailer');
    const { hostname, port, username, password, protocol } = new URL(this.#settings.smtpUrl ?? '');
    const secure = protocol === 'smtps:';
    const host = hostname.replace(/^\[|\]$/g, '');
    return createTransport({
      host,
      port: port === '' ? (secure ? 465 : 587) : Number(port),
      secure,
      // A password, and what is held, never travel over a network in the open.
      requireTLS: !secure && !isLoopbackHost(host),
      ...(username !== '' && {
        auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
      }),
      connectionTimeout: connectTimeoutMs,
      greetingTimeout: connectTimeoutMs,
      socketTimeout: idleTimeoutMs,
      logger: false,
    });
  }
}

function sendError(error: unknown): SendError {
  const { responseCode, code } = error as { readonly responseCode?: number; readonly code?: string };
  const reason = responseCode ?? code ?? 'no response';
  return new SendError(`the mail server did not accept the message (${reason})`);
}

/** A mail without its form. */
interface MailContent {
  readonly subject: string;
  readonly lines: readonly string[];
  readonly url: string | undefined;
}

const notices = {
  held: 'Held',
  escalated: 'Nobody has decided yet',
  reminder: 'Expires soon',
  decided: 'Decided',
} as const;

function contentOf(message: ChannelMessage): MailContent {
  switch (message.type) {
    case 'test':
      return {
        subject: 'actlog can send mail',
        lines: [`The channel “${message.channelName}” of actlog works.`],
        url: message.url,
      };
    case 'alert':
      return { subject: message.title, lines: [message.title, '', ...message.lines], url: message.url };
    case 'approval': {
      const { card, notice, url } = message;
      const facts = card.facts.map(({ label, text, url }) => `${label}: ${url ?? text}`);
      return {
        subject: `${notices[notice]}: ${card.title}`.slice(0, 200),
        lines: [card.state, '', ...facts],
        url,
      };
    }
  }
}

function htmlOf(lines: readonly string[], url: string | undefined): string {
  const body = lines.map((line) => (line === '' ? '<br>' : `<div>${escaped(line)}</div>`)).join('\n');
  const link = url === undefined ? '' : `<p><a href="${escaped(url)}">Open it in the console</a></p>`;
  return `<!doctype html><html lang="en"><body style="font-family:sans-serif">\n${body}\n${link}\n</body></html>`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
