import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { atTestEnd } from '../test-end.ts';

/** A received mail. */
export interface ReceivedMail {
  readonly to: readonly string[];
  readonly from: string;
  readonly source: string;
}

/** A mail server on a loopback address. */
export class LoopbackMail {
  readonly mails: ReceivedMail[] = [];
  /** Addresses that it refuses, each as often as it is listed. */
  readonly refused: string[] = [];
  readonly #server: SMTPServer;
  #arrived: () => void = () => {};

  private constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'actlog' && password === 'a password'
          ? done(null, { user: username })
          : done(new Error('wrong password')),
      onRcptTo: ({ address }, _session, done) => {
        const at = this.refused.indexOf(address);
        if (at === -1) return done();
        this.refused.splice(at, 1);
        done(Object.assign(new Error('mailbox busy'), { responseCode: 450 }));
      },
      onData: (stream, session, done) => {
        let source = '';
        stream.on('data', (chunk: Buffer) => {
          source += chunk.toString('utf8');
        });
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope;
          this.mails.push({
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map(({ address }) => address),
            // Soft line breaks of quoted-printable, and its encoded characters.
            source: source
              .replaceAll('=\r\n', '')
              .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
                String.fromCharCode(Number.parseInt(hex, 16)),
              ),
          });
          done();
          this.#arrived();
        });
      },
    });
  }

  /** Starts a mail server that ends with the test. */
  static async start(): Promise<LoopbackMail> {
    const mail = new LoopbackMail();
    const listening = mail.#server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    atTestEnd(() => new Promise<void>((closed) => mail.#server.close(() => closed())));
    return mail;
  }

  /** Settings of a server that uses it. */
  get settings() {
    const { port } = this.#server.server.address() as AddressInfo;
    return {
      smtpUrl: `smtp://actlog:a%20password@127.0.0.1:${port}`,
      mailFrom: 'actlog <actlog@example.com>',
    };
  }

  /** Resolves when `count` mails have arrived in total. */
  async received(count: number): Promise<readonly ReceivedMail[]> {
    while (this.mails.length < count) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    return this.mails;
  }
}
