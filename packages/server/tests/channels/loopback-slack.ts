import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atTestEnd } from '../test-end.ts';

/** A call of Slack's Web API. */
export interface SlackCall {
  readonly method: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

/** A member of the workspace, as `users.info` returns it. */
export interface SlackMember {
  readonly email?: string;
  readonly isConfirmed?: boolean;
  readonly team?: string;
  readonly isDeleted?: boolean;
  readonly isStranger?: boolean;
}

/** A button of a message. */
interface Button {
  readonly action_id: string;
  readonly value?: string;
}

/** Options of a click. */
export interface ClickOptions {
  readonly user?: string;
  readonly button?: 'actlog_approve' | 'actlog_deny' | 'actlog_deny_reason';
  /** Value of the button, to forge one. */
  readonly value?: string;
  /** Seconds by which the request is older than it is sent. */
  readonly ageSeconds?: number;
  readonly signingSecret?: string;
  readonly team?: string;
  readonly ts?: string;
}

/** Settings of the Slack app of the tests. */
export const slackApp = {
  slackBotToken: 'xoxb-loopback-token',
  slackSigningSecret: '8f742231b10e8888abcd99yyyzzz85a5',
} as const;

/** Id of the channel of the tests. */
export const slackChannelId = 'C0123456789';

const team = 'T0000000001';

/** A Slack on a loopback address: the Web API that the server calls, and the clicks of people, which it signs. */
export class LoopbackSlack {
  readonly calls: SlackCall[] = [];
  readonly members = new Map<string, SlackMember>();
  /** Bodies of the next responses; bodies of success when none are left. */
  readonly responses: {
    readonly status: number;
    readonly body: object;
    readonly headers?: Record<string, string>;
  }[] = [];
  /** Awaited before each response. */
  beforeResponse: (call: SlackCall) => Promise<unknown> = async () => {};
  readonly #server: Server;
  #arrived: () => void = () => {};
  #messages = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', async () => {
        const call: SlackCall = {
          method: (request.url ?? '').replace('/api/', ''),
          fields: Object.fromEntries(new URLSearchParams(text)),
          authorization: request.headers.authorization,
        };
        await this.beforeResponse(call);
        this.calls.push(call);
        const {
          status,
          body,
          headers = {},
        } = this.responses.shift() ?? { status: 200, body: this.#success(call) };
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(body));
        this.#arrived();
      });
    });
  }

  /** Starts a Slack that ends with the test. */
  static async start(): Promise<LoopbackSlack> {
    const slack = new LoopbackSlack();
    slack.#server.listen(0, '127.0.0.1');
    await once(slack.#server, 'listening');
    atTestEnd(async () => {
      slack.#server.closeAllConnections();
      slack.#server.close();
      await once(slack.#server, 'close');
    });
    return slack;
  }

  /** Settings of a server that uses it. */
  get settings() {
    const { port } = this.#server.address() as AddressInfo;
    return {
      ...slackApp,
      slackApiUrl: `http://127.0.0.1:${port}/api/`,
      webhookAllowedRanges: ['127.0.0.0/8'],
    };
  }

  /** Returns the calls of a method, when there are at least `count`. */
  async called(method: string, count = 1): Promise<readonly SlackCall[]> {
    for (;;) {
      const found = this.calls.filter((call) => call.method === method);
      if (found.length >= count) return found;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  /** Returns the text of the last message with its blocks. */
  shown(call: SlackCall | undefined): string {
    return `${call?.fields.text ?? ''}\n${JSON.stringify(JSON.parse(call?.fields.blocks ?? '[]'))}`;
  }

  /** Returns the buttons that decide in a message. */
  buttons(call: SlackCall | undefined): Button[] {
    const blocks = JSON.parse(call?.fields.blocks ?? '[]') as { type: string; elements?: Button[] }[];
    return blocks
      .flatMap(({ type, elements = [] }) => (type === 'actions' ? elements : []))
      .filter(({ value }) => value !== undefined);
  }

  /** Returns the signed request of a click on the last posted message. */
  async click({
    user = 'U0000000001',
    button = 'actlog_approve',
    value,
    ageSeconds = 0,
    signingSecret = slackApp.slackSigningSecret,
    team: from = team,
    ts = `1700000000.00000${this.#messages}`,
  }: ClickOptions = {}): Promise<{ readonly body: string; readonly headers: Record<string, string> }> {
    const posted = this.calls.filter(({ method }) => method === 'chat.postMessage').at(-1);
    const known = this.buttons(posted).find(({ action_id: id }) => id === button)?.value ?? '';
    const payload = {
      type: 'block_actions',
      team: { id: from },
      user: { id: user, team_id: from },
      api_app_id: 'A0000000001',
      trigger_id: '12466734323.1395872398',
      container: { type: 'message', channel_id: slackChannelId, message_ts: ts },
      actions: [{ type: 'button', action_id: button, value: value ?? known }],
    };
    return this.#signed(payload, ageSeconds, signingSecret);
  }

  /** Returns the signed request of a person who submits the form that was opened last. */
  submit({
    user = 'U0000000001',
    comment,
    metadata,
    ageSeconds = 0,
    signingSecret = slackApp.slackSigningSecret,
  }: {
    readonly user?: string;
    readonly comment?: string | null;
    /** Content of the form's `private_metadata`, to forge it. */
    readonly metadata?: string;
    readonly ageSeconds?: number;
    readonly signingSecret?: string;
  }) {
    const opened = this.calls.filter(({ method }) => method === 'views.open').at(-1);
    const view = JSON.parse(opened?.fields.view ?? '{}') as {
      callback_id?: string;
      private_metadata?: string;
    };
    const payload = {
      type: 'view_submission',
      team: { id: team },
      user: { id: user, team_id: team },
      view: {
        type: 'modal',
        callback_id: view.callback_id,
        private_metadata: metadata ?? view.private_metadata,
        state: { values: { reason: { comment: { type: 'plain_text_input', value: comment } } } },
      },
    };
    return this.#signed(payload, ageSeconds, signingSecret);
  }

  #signed(payload: object, ageSeconds: number, signingSecret: string) {
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds);
    const digest = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
    return {
      body,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': `v0=${digest}`,
      },
    };
  }

  #success({ method, fields }: SlackCall): object {
    switch (method) {
      case 'auth.test':
        return { ok: true, team_id: team, user_id: 'U00BOT' };
      case 'users.info': {
        const member = this.members.get(fields.user ?? '');
        if (!member) return { ok: false, error: 'user_not_found' };
        const {
          email,
          isConfirmed = true,
          team: memberTeam = team,
          isDeleted = false,
          isStranger = false,
        } = member;
        return {
          ok: true,
          user: {
            id: fields.user,
            team_id: memberTeam,
            deleted: isDeleted,
            is_bot: false,
            is_stranger: isStranger,
            is_email_confirmed: isConfirmed,
            profile: { email },
          },
        };
      }
      case 'chat.postMessage':
        this.#messages += 1;
        return { ok: true, channel: fields.channel, ts: `1700000000.00000${this.#messages}` };
      default:
        return { ok: true };
    }
  }
}
