import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from 'langchain';
import * as z from 'zod';

async function fetchText(address: string, method = 'GET'): Promise<string> {
  const response = await fetch(address, { method });
  if (!response.ok) {
    // The recorded status comes from the error, so a 404 differs from a crash.
    throw Object.assign(new Error(await response.text()), { status: response.status });
  }
  return response.text();
}

/** Creates the tools of a support agent: they call the shop over HTTP, and read and write files in `folder`. */
export function supportTools(shopUrl: string, folder: string) {
  return [
    tool(({ orderId }) => fetchText(`${shopUrl}/orders/${orderId}`), {
      name: 'get_order',
      description: 'Look up one order.',
      schema: z.object({ orderId: z.string() }),
    }),
    tool(({ file }) => readFile(join(folder, file), 'utf8'), {
      name: 'read_file',
      description: 'Read a file of the handbook.',
      schema: z.object({ file: z.enum(['refund-rules.md']) }),
    }),
    tool(
      async ({ note }) => {
        await appendFile(join(folder, 'notes.txt'), `${note}\n`);
        return 'noted';
      },
      {
        name: 'append_note',
        description: 'Write a note for the colleagues.',
        schema: z.object({ note: z.string() }),
      },
    ),
    tool(() => fetchText(`${shopUrl}/reviews`), {
      name: 'fetch_web_page',
      description: 'Read the public reviews of a product.',
      schema: z.object({ product: z.string() }),
    }),
    tool(() => fetchText(`${shopUrl}/customers`), {
      name: 'list_customers',
      description: 'Read the customer list.',
      schema: z.object({}),
    }),
    tool(({ to }) => fetchText(`${shopUrl}/mail/${encodeURIComponent(to)}`, 'POST'), {
      name: 'send_email',
      description: 'Send a mail.',
      schema: z.object({ to: z.string(), body: z.string() }),
    }),
    tool(({ to }) => fetchText(`${shopUrl}/mail/${encodeURIComponent(to)}`, 'DELETE'), {
      name: 'delete_sent_mail',
      description: 'Remove a mail from those that were sent.',
      schema: z.object({ to: z.string() }),
    }),
  ];
}
