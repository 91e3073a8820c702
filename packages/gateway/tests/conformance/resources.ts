import {
  ErrorCode,
  McpError,
  type ReadResourceResult,
  type Resource,
} from '@modelcontextprotocol/sdk/types.js';
import { pixelPng } from './sample-media.ts';

/** Resources of the conformance server. */
export const resources: readonly Resource[] = [
  { uri: 'test://static-text', name: 'Text', description: 'A text.', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'Image', description: 'An image.', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'Watched', description: 'A text.', mimeType: 'text/plain' },
];

/** Template of the conformance server's resources (RFC 6570). */
export const resourceTemplate = {
  uriTemplate: 'test://template/{id}/data',
  name: 'Template',
  description: 'A resource for each id.',
  mimeType: 'application/json',
};

/**
 * Returns the contents of a resource.
 *
 * @throws McpError when there is none with the URI
 */
export function readResource(uri: string): ReadResourceResult {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id !== undefined)
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id }) }] };
  const resource = resources.find((one) => one.uri === uri);
  if (!resource) throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri}.`);
  const { mimeType = 'text/plain', description = '' } = resource;
  return mimeType === 'image/png'
    ? { contents: [{ uri, mimeType, blob: pixelPng }] }
    : { contents: [{ uri, mimeType, text: description }] };
}
