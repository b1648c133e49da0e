import { beforeEach, describe } from 'vitest';
import { conformance } from '../../test/conformance/suite.ts';
import { webDriver } from '../../test/conformance/web-driver.ts';
import { tested } from './hosts.ts';
import { listenerOf, serveBy } from './in-process.ts';

const isInProcess = tested.filter(({ kind }) => listenerOf[kind] !== undefined);

describe.each(isInProcess)('the conformance suite in $name', (host) => {
  beforeEach(({ task, skip }) => {
    if (host.differs?.includes(task.name) === true) skip('not possible in this version of the host');
  });
  conformance(webDriver(host.name, serveBy(host)));
});
