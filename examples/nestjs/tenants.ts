// tenants.ts
import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';

const tenantsByApiKey = new Map([['secret-of-shop', 'shop']]);

// Synchronous, from memory: it runs for refused deliveries too.
export function tenantOf({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  return tenantsByApiKey.get(String(headers['x-api-key']));
}

@Injectable()
export class TenantGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (tenantOf(context.switchToHttp().getRequest()) === undefined) throw new UnauthorizedException();
    return true;
  }
}
