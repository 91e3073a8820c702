import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** Name of the file with the notices, from the root of the website. */
export const noticesFile = 'licenses.txt';

/** Names of license files, in either spelling. */
const licenseFile = /^licen[cs]e(?:\.md|\.txt)?$/i;

/** Vite plugin that writes the license notices of all packages whose code the scripts of the site contain. */
export function thirdPartyNotices(): Plugin {
  let isServerBuild = false;
  return {
    name: 'third-party-notices',
    configResolved({ build }) {
      isServerBuild = Boolean(build.ssr);
    },
    generateBundle(_options, bundle) {
      if (isServerBuild) return;
      const modules = Object.values(bundle).flatMap((chunk) =>
        chunk.type === 'chunk' ? chunk.moduleIds : [],
      );
      const folders = modules.map((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(id)?.[0]);
      const notices = [...new Set(folders.filter((path) => path !== undefined))].map(noticeOf);
      const source = `The scripts of this website contain:\n\n${[...new Set(notices)].sort().join(`\n${'-'.repeat(72)}\n\n`)}`;
      this.emitFile({ type: 'asset', fileName: noticesFile, source });
    },
  };
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((name) => licenseFile.test(name));
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version}\n\n${text}\n`;
}
