package fetch

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler returns a log handler that removes credentials from every message and
// attribute before it passes them to next. Attributes that are no plain number,
// time or truth value reach next as text.
func (r *Redactor) Handler(next slog.Handler) slog.Handler {
	return &redactingHandler{r: r, next: next}
}

type redactingHandler struct {
	r    *Redactor
	next slog.Handler
}

func (h *redactingHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *redactingHandler) Handle(ctx context.Context, rec slog.Record) error {
	clean := slog.NewRecord(rec.Time, rec.Level, h.r.Text(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h *redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return &redactingHandler{r: h.r, next: h.next.WithAttrs(clean)}
}

func (h *redactingHandler) WithGroup(name string) slog.Handler {
	return &redactingHandler{r: h.r, next: h.next.WithGroup(name)}
}

func (h *redactingHandler) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() != slog.KindGroup && isCredentialParam(a.Key) && !isPlainWord(a.Key) {
		return slog.String(a.Key, redacted)
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(h.r.Text(a.Value.String()))
	case slog.KindGroup:
		group := a.Value.Group()
		clean := make([]slog.Attr, len(group))
		for i, g := range group {
			clean[i] = h.attr(g)
		}
		a.Value = slog.GroupValue(clean...)
	case slog.KindAny:
		a.Value = slog.StringValue(h.r.Text(fmt.Sprint(a.Value.Any())))
	}
	return a
}
