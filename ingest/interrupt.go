package ingest

import (
	"context"
	"io"
	"os"
)

// interruptible reads r until ctx ends, even while nothing comes: a pipe that stays open and silent must not keep a program
// that was told to stop. A file always answers, and is read as it is.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return r
		}
	}
	if r == nil || ctx.Done() == nil {
		return r
	}
	i := &interrupted{ctx: ctx, pieces: make(chan piece)}
	go i.pump(r)
	return i
}

type interrupted struct {
	ctx    context.Context
	pieces chan piece
	rest   piece
}

type piece struct {
	bytes []byte
	err   error
}

// pump reads ahead by one piece. It ends with the input, or when somebody has stopped waiting for what it brings.
func (i *interrupted) pump(r io.Reader) {
	for {
		p := piece{bytes: make([]byte, 64<<10)}
		var n int
		n, p.err = r.Read(p.bytes)
		p.bytes = p.bytes[:n]
		select {
		case i.pieces <- p:
		case <-i.ctx.Done():
			return
		}
		if p.err != nil {
			return
		}
	}
}

func (i *interrupted) Read(b []byte) (int, error) {
	for len(i.rest.bytes) == 0 {
		if i.rest.err != nil {
			return 0, i.rest.err
		}
		select {
		case i.rest = <-i.pieces:
		case <-i.ctx.Done():
			return 0, i.ctx.Err()
		}
	}
	n := copy(b, i.rest.bytes)
	i.rest.bytes = i.rest.bytes[n:]
	return n, nil
}
