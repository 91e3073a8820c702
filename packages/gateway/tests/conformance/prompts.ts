import type { GetPromptResult, Prompt, PromptMessage } from '@modelcontextprotocol/sdk/types.js';
import { pixelPng } from './sample-media.ts';

/** A prompt of the conformance server. */
export interface ConformancePrompt extends Prompt {
  messages(args: Readonly<Record<string, string>>): GetPromptResult['messages'];
}

function userText(text: string): PromptMessage {
  return { role: 'user', content: { type: 'text', text } };
}

/** Prompts of the conformance server. */
export const prompts: readonly ConformancePrompt[] = [
  {
    name: 'test_simple_prompt',
    description: 'A prompt without arguments.',
    messages: () => [userText('A simple prompt.')],
  },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with two arguments.',
    arguments: [
      { name: 'arg1', description: 'First argument', required: true },
      { name: 'arg2', description: 'Second argument', required: true },
    ],
    messages: ({ arg1, arg2 }) => [userText(`The arguments are ${arg1} and ${arg2}.`)],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource.',
    arguments: [{ name: 'resourceUri', description: 'URI of the resource', required: true }],
    messages: ({ resourceUri = '' }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'An embedded resource.' },
        },
      },
      userText('Read the resource.'),
    ],
  },
  {
    name: 'test_prompt_with_image',
    description: 'A prompt with an image.',
    messages: () => [
      { role: 'user', content: { type: 'image', data: pixelPng, mimeType: 'image/png' } },
      userText('Describe the image.'),
    ],
  },
];
