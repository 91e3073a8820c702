import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pagesFolder } from '../repository.ts';
import { document } from './document.ts';
import { messageText, operationText } from './operation-text.ts';

/** Folder of the pages, from the root of the site. */
const folder = 'reference/http';

/** Titles of the pages by tag of the document. */
const titles: Readonly<Record<string, string>> = {
  events: 'Events',
  sessions: 'Sessions',
  agents: 'Agents',
  policies: 'Policies and checks',
  guardian: 'Held actions',
  notificationChannels: 'Webhooks',
};

/** A generated page. */
export interface GeneratedPage {
  /** Path from the root of the site. */
  readonly page: string;
  readonly title: string;
}

/** Pages of the HTTP reference: one for each tag of the document, and one for the messages to webhooks. */
export const httpPages: readonly GeneratedPage[] = [
  ...document.tags.map(({ name }) => {
    const title = titles[name];
    if (title === undefined) throw new Error(`write-http-reference.ts has no title for the tag ${name}.`);
    return { page: `${folder}/${slugOf(title)}.md`, title };
  }),
  { page: `${folder}/webhook-messages.md`, title: 'Webhook messages' },
];

function slugOf(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-');
}

/** Writes the HTTP reference from the OpenAPI document: static pages that need no script of a renderer. */
export async function writeHttpReference(): Promise<void> {
  await mkdir(join(pagesFolder, folder), { recursive: true });
  for (const { name, description } of document.tags) {
    const title = titles[name] as string;
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { tags }]) => tags.includes(name))
        .map(([method, operation]) => operationText(method, path, operation)),
    );
    await write(title, [description, ...operations]);
  }
  const messages = Object.entries(document.webhooks).map(([type, { post }]) => messageText(type, post));
  await write('Webhook messages', [
    'Messages that the service sends to webhooks, signed as [Standard Webhooks](https://www.standardwebhooks.com) specifies.',
    ...messages,
  ]);
}

function write(title: string, parts: readonly string[]): Promise<void> {
  const text = ['---\noutline: 2\n---', `# ${title}`, ...parts].join('\n\n');
  return writeFile(join(pagesFolder, folder, `${slugOf(title)}.md`), `${text}\n`);
}
