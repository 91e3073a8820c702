/**
 * The documentation of actlog as a website: static files that any server can serve without a network.
 *
 * @packageDocumentation
 */
import { DocsSite } from './docs-site.ts';

export { DocsSite, type SiteFile } from './docs-site.ts';

let loading: Promise<DocsSite> | undefined;

/**
 * Returns the website, to be served below one path such as `/docs/`. Its files refer to each other by relative URLs, so
 * any path works. Read on the first call, then cached.
 *
 * @throws Error if the files cannot be read, for example because a bundler did not copy them.
 */
export function docsSite(): Promise<DocsSite> {
  loading ??= DocsSite.read(siteFolder());
  return loading;
}

/** Returns the folder that the build wrote; not at the top level, because a CommonJS bundle has no such URL. */
function siteFolder(): URL {
  // Beside the built module; programs that run from source take the last build.
  return new URL(import.meta.url.endsWith('.ts') ? '../dist/site/' : './site/', import.meta.url);
}
