import { FunctionTool } from '@google/adk';
import * as z from 'zod';

/** Tool that anyone may use. */
export const archive = new FunctionTool({
  name: 'search_archive',
  description: 'Search the archive of the paper.',
  parameters: z.object({ words: z.string() }),
  execute: ({ words }) => [{ title: `All about ${words}`, year: 2019 }],
});

/** Tool that agents must not use. */
export const sources = new FunctionTool({
  name: 'read_source_file',
  description: 'Read the file of a source.',
  parameters: z.object({ source: z.string() }),
  execute: ({ source }) => `the true name of ${source}`,
});

/** Tool with public effects. */
export const publish = new FunctionTool({
  name: 'publish',
  description: 'Publish an article.',
  parameters: z.object({ title: z.string() }),
  execute: ({ title }) => `"${title}" is online`,
});
