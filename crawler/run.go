package crawler

import (
	"context"

	"github.com/gputide/gputide"
)

func (c *Crawler) crawl(ctx context.Context, p gputide.Provider, info gputide.Info, opt Options) Result {
	return Result{Provider: info.Name}
}
