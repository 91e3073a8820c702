import { type Agent, request } from 'node:http';

/** A request to the service. */
export interface Sent {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: string;
}

/** Sends a request and resolves with its status and body once the response has arrived whole. */
export function send(
  options: Sent & { readonly url: string; readonly apiKey: string; readonly agent: Agent },
): Promise<{ readonly status: number; readonly body: string }> {
  const { url, apiKey, agent, method, path, body } = options;
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
